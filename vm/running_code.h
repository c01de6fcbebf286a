#ifndef LOCKFREE_VM_RUNNING_CODE_H
#define LOCKFREE_VM_RUNNING_CODE_H
/**********************************************************************

  vm/running_code.h - YJIT compiles while other Ractors run; see yjit/running_code.rs

  Licence: see LICENSE.

**********************************************************************/

/*
 * Part of yjit.c.
 *
 * Problem.  Upstream lets no page of code be written and executed at once: who compiles makes
 * each page writable that it writes to, and all executable when it is done, some four calls of
 * mprotect for a block.  While others run that code each call interrupts the processors that
 * they are on, which have to forget the page's protection: a third of the time of a program of
 * 6,000 blocks.
 *
 * Solution.  A page that is written to while others run stays writable and executable until the
 * next collection marks, or code is made while nobody else runs: then all are executable only.
 * What is known to be writable needs no call.  A page that the table has no room for is made
 * writable once more.
 *
 * A collection in the middle of a compilation that has written leaves all as it is.
 */

#if defined(__x86_64__) && defined(RUBY_THREAD_PTHREAD_H)
# define CODE_MAY_RUN_WHILE_WRITTEN 1
#else
# define CODE_MAY_RUN_WHILE_WRITTEN 0
#endif

bool rb_ractor_others_p(void);

/* Other Ractors may run while the caller makes code.  With the VM lock, as all below. */
bool rb_yjit_others_run;

#if CODE_MAY_RUN_WHILE_WRITTEN
/* Whether the system lets a page be written and executed at once, as SELinux need not. */
static bool
code_may_run_while_written_p(void)
{
    static enum {unknown, no, yes} answer;

    if (answer == unknown) {
        size_t size = (size_t)sysconf(_SC_PAGESIZE);
        void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        answer = no;
        if (page != MAP_FAILED) {
            if (mprotect(page, size, PROT_READ | PROT_WRITE | PROT_EXEC) == 0) answer = yes;
            munmap(page, size);
        }
    }
    return answer == yes;
}
#else
# define code_may_run_while_written_p() false
#endif

#define CODE_PAGES_KNOWN 256 /* a power of two */

/* With the VM lock. */
static struct {
    bool written;    /* since all was executable: who compiles is at it */
    bool any;        /* pages are known to be writable and executable: */
    const void *known[CODE_PAGES_KNOWN]; /* these, and those that they have displaced */
    void *region;    /* of all code, when they were left so */
    uint32_t region_size;
} code_pages;

static void
code_pages_forget(void)
{
    if (code_pages.any) MEMZERO(code_pages.known, const void *, CODE_PAGES_KNOWN);
    code_pages.any = false;
}

/* Lets +size+ bytes from +page+ on be written, by the caller alone.  Whether the system does. */
static bool
code_mark_writable(void *page, uint32_t size)
{
    const void **known = &code_pages.known[((uintptr_t)page >> 12) % CODE_PAGES_KNOWN];

    code_pages.written = true;
    if (!rb_yjit_others_run) return mprotect(page, size, PROT_READ | PROT_WRITE) == 0;
    if (*known == page && size == (uint32_t)sysconf(_SC_PAGESIZE)) return true;
    if (mprotect(page, size, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) return false;
    *known = page;
    code_pages.any = true;
    return true;
}

/* All that was to be written has been.  Whether the pages stay writable, of +size+ bytes from +region+ on. */
static bool
code_left_writable_p(void *region, uint32_t size)
{
    code_pages.written = false;
    if (!rb_yjit_others_run) {
        code_pages_forget();
        return false;
    }
    code_pages.region = region;
    code_pages.region_size = size;
    return true;
}

/* All code is executable only, unless somebody is writing it, or the system does not let it be.  The collector, as it marks. */
void
rb_yjit_protect_code(void)
{
    if (!code_pages.any || code_pages.written) return;
    code_pages_forget();
    code_pages.any = mprotect(code_pages.region, code_pages.region_size, PROT_READ | PROT_EXEC) != 0; /* of some it may have */
}

/* Who has the lock stops all others, and is alone until the lock is given. */
void
rb_yjit_stop_others(void)
{
    rb_vm_barrier();
    rb_yjit_others_run = false;
}

/* Takes the VM lock, and stops the others only where they must not run meanwhile.  A safe point. */
void
rb_yjit_lock_to_compile(unsigned int *recursive_lock_level, const char *file, int line)
{
    rb_vm_lock_enter(recursive_lock_level, file, line);
    RACTOR_WAITS(compile(file));
    if (!code_may_run_while_written_p()) {
        rb_yjit_stop_others();
    }
    else {
        rb_yjit_others_run = rb_ractor_others_p();
    }
}

/* Takes the VM lock to look at what is noted, while others run; what its caller may be compiling goes on as before.  A safe point. */
void
rb_yjit_lock_to_look(unsigned int *recursive_lock_level)
{
    rb_vm_lock_enter(recursive_lock_level, __FILE__, __LINE__);
}

void
rb_yjit_unlock_looked(unsigned int *recursive_lock_level)
{
    rb_vm_lock_leave(recursive_lock_level, __FILE__, __LINE__);
}

/* Compiles the frame on top, unless another Ractor has done so since the caller found no code. */
static void
yjit_compile_iseq(const rb_iseq_t *iseq, rb_execution_context_t *ec, bool jit_exception)
{
    uint8_t *rb_yjit_iseq_gen_entry_point(const rb_iseq_t *iseq, rb_execution_context_t *ec, bool jit_exception); // defined in Rust
    void rb_yjit_vm_unlock(unsigned int *level, const char *file, int line); // yjit.c
    rb_jit_func_t *entry = jit_exception ? &ISEQ_BODY(iseq)->jit_exception : &ISEQ_BODY(iseq)->jit_entry;
    unsigned int level;

    rb_yjit_lock_to_compile(&level, __FILE__, __LINE__);
    if (!*entry) {
        rb_jit_func_t code = (rb_jit_func_t)rb_yjit_iseq_gen_entry_point(iseq, ec, jit_exception);

        __atomic_store_n(entry, code, __ATOMIC_RELEASE); /* [code] */
    }
    rb_yjit_vm_unlock(&level, __FILE__, __LINE__);
}

#endif /* LOCKFREE_VM_RUNNING_CODE_H */
