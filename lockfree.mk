# lockfree.mk -- how CRuby's build compiles our files, which it sees as lockfree/*.c and lockfree/*/*.c.
#
# GNUmakefile of the object folder includes this before the rules of common.mk, whose COMMONOBJS has $(LOCKFREE_OBJS).
# A file added to the top folder of the repository, or to a folder that tool/tree knows, needs no change here.

LOCKFREE_SRCS = $(wildcard $(srcdir)/lockfree/*.c $(srcdir)/lockfree/*/*.c)
LOCKFREE_HDRS = $(wildcard $(srcdir)/lockfree/*.h $(srcdir)/lockfree/*/*.h)
LOCKFREE_OBJS = $(LOCKFREE_SRCS:$(srcdir)/%.c=%.$(OBJEXT))
LOCKFREE_DIRS = $(sort $(dir $(LOCKFREE_OBJS)))

# The files of CRuby that include a header of ours.
LOCKFREE_USERS := $(shell cd $(srcdir) && grep -ls '"[./]*lockfree/[a-z_/]*\.h"' *.c *.h *.y internal/*.h \
	gc/*.h gc/*/*.c ext/*/*.c ext/*/*/*.c)

# Where the object folder is that of the sources, some headers there are made by the miniruby that our objects are in, or
# after it: hung on these, our objects would be compiled, and all be linked, again by the next make.
LOCKFREE_MADE = $(addprefix $(srcdir)/,encdb.h probes.h transdb.h verconf.h)

$(LOCKFREE_OBJS): $(addsuffix .time,$(LOCKFREE_DIRS)) $(LOCKFREE_HDRS) $(filter-out $(LOCKFREE_MADE), \
	$(wildcard $(srcdir)/*.h $(srcdir)/internal/*.h $(srcdir)/include/ruby/*.h $(srcdir)/include/ruby/internal/*.h))

$(addsuffix .time,$(LOCKFREE_DIRS)):
	$(Q) $(MAKEDIRS) $(@D)
	@$(NULLCMD) > $@

# An object whose source has gone or moved is nobody's; who looks through all objects (tool/globals) would meet it.
LOCKFREE_GONE := $(shell rm -f $(filter-out $(LOCKFREE_OBJS),$(wildcard lockfree/*.$(OBJEXT) lockfree/*/*.$(OBJEXT))))

# common.mk knows which objects hang on each header of CRuby, and nothing of ours. So a change to a header of ours counts
# as one to the files that include it.
$(addprefix $(srcdir)/,$(LOCKFREE_USERS)): $(LOCKFREE_HDRS)
	$(Q) touch $@

# The makefiles of extensions ask for no rule of this one: what they compile is touched before they run.
LOCKFREE_TOUCHED := $(shell cd $(srcdir) && for user in $(filter ext/%,$(LOCKFREE_USERS)); do \
	test -z "`find -L lockfree -name '*.h' -newer $$user`" || touch $$user; done)

# Bundled gems that lie here unpacked are not fetched packed, as `make install` would where it finds a Ruby.
LOCKFREE_GEMS = $(notdir $(wildcard $(srcdir)/.bundle/gems/*))
$(patsubst %,$(srcdir)/.bundle/gems/%,$(LOCKFREE_GEMS)) $(patsubst %,$(srcdir)/gems/%.gem,$(LOCKFREE_GEMS)): ;
