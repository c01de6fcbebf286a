#ifndef LOCKFREE_LOCKFREE_H
#define LOCKFREE_LOCKFREE_H
/**********************************************************************

  lockfree.h - how this Ruby is told from stock

  Licence: see LICENSE.

**********************************************************************/

/* The project's own version, that of CHANGELOG.md; RUBY_VERSION says which Ruby
 * it is drop-in for.  configure.ac reads this line, and nothing repeats it. */
#define RUBY_LOCKFREE_VERSION "1.0.0"

/* In RUBY_DESCRIPTION, before what options switch on (+YJIT, +PRISM): what
 * parses the line may expect those last. */
#define RUBY_LOCKFREE_DESCRIPTION " +LOCKFREE"

#endif /* LOCKFREE_LOCKFREE_H */
