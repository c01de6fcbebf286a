# lockfree.mk -- how CRuby's build compiles our files, which it sees as lockfree/*.c.
#
# GNUmakefile of the object folder includes this before the rules of common.mk, whose COMMONOBJS has $(LOCKFREE_OBJS).
# A file added to the top folder of the repository needs no change here.

LOCKFREE_SRCS = $(wildcard $(srcdir)/lockfree/*.c)
LOCKFREE_HDRS = $(wildcard $(srcdir)/lockfree/*.h)
LOCKFREE_OBJS = $(LOCKFREE_SRCS:$(srcdir)/%.c=%.$(OBJEXT))

# The files of CRuby that include a header of ours.
LOCKFREE_USERS := $(shell cd $(srcdir) && grep -ls '"lockfree/[a-z_]*\.h"' *.c *.h *.y internal/*.h gc/*.h gc/*/*.c ext/*/*.c)

$(LOCKFREE_OBJS): lockfree/.time $(LOCKFREE_HDRS) \
	$(wildcard $(srcdir)/*.h $(srcdir)/internal/*.h $(srcdir)/include/ruby/*.h $(srcdir)/include/ruby/internal/*.h)

lockfree/.time:
	$(Q) $(MAKEDIRS) $(@D)
	@$(NULLCMD) > $@

# common.mk knows which objects hang on each header of CRuby, and nothing of ours. So a change to a header of ours counts
# as one to the files that include it.
$(addprefix $(srcdir)/,$(LOCKFREE_USERS)): $(LOCKFREE_HDRS)
	$(Q) touch $@
