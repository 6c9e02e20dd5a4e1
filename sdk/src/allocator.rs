//! The allocator of guests: it hands out memory from a rising mark and takes back only what was handed out last.
//!
//! An instance lives for one call, so nothing is worth freeing. Growing the newest block in place makes a growing list
//! cheap; memory beyond the first pages is asked of the host in large steps, because each step costs a system call.

use std::alloc::{GlobalAlloc, Layout};
use std::cell::Cell;

const PAGE: usize = 64 * 1024;
/// Pages asked for at once.
const STEP: usize = 16;

/// State of the allocator. Guests have one thread.
struct Bump {
    /// First free byte; 0 before the first use.
    mark: Cell<usize>,
    /// End of memory.
    end: Cell<usize>,
    /// First byte that was never handed out, if the mark has ever been set back below it. From there on, and from the
    /// mark on, memory is as the host gave it: zero.
    used: Cell<usize>,
}

#[global_allocator]
static ALLOCATOR: Bump = Bump {
    mark: Cell::new(0),
    end: Cell::new(0),
    used: Cell::new(0),
};

#[expect(
    unsafe_code,
    reason = "a guest has one thread, so its statics cannot be shared between threads"
)]
// SAFETY: `wasm32-unknown-unknown` without the threads proposal, which the host switches off.
unsafe impl Sync for Bump {}

impl Bump {
    /// Makes sure that memory reaches to `end`; says whether it does.
    fn reach(&self, end: usize) -> bool {
        if end <= self.end.get() {
            return true;
        }
        let missing = (end - self.end.get()).div_ceil(PAGE);
        let grown = [missing.max(STEP), missing]
            .into_iter()
            .any(|pages| core::arch::wasm32::memory_grow::<0>(pages) != usize::MAX);
        self.end.set(core::arch::wasm32::memory_size::<0>() * PAGE);
        grown
    }

    /// Sets the mark back.
    fn give_back(&self, mark: usize) {
        self.used.set(self.used.get().max(self.mark.get()));
        self.mark.set(mark);
    }

    fn start(&self) {
        #[expect(
            unsafe_code,
            reason = "only the address of the linker's symbol is used"
        )]
        unsafe extern "C" {
            static __heap_base: u8;
        }
        self.mark.set(&raw const __heap_base as usize);
        self.end.set(core::arch::wasm32::memory_size::<0>() * PAGE);
    }
}

#[expect(unsafe_code, reason = "an allocator is an unsafe trait")]
// SAFETY: blocks are cut from memory above the mark, never overlap, and are aligned as asked.
unsafe impl GlobalAlloc for Bump {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if self.mark.get() == 0 {
            self.start();
        }
        let Some(start) = self.mark.get().checked_next_multiple_of(layout.align()) else {
            return core::ptr::null_mut();
        };
        match start.checked_add(layout.size()) {
            Some(end) if self.reach(end) => {
                self.mark.set(end);
                start as *mut u8
            }
            _ => core::ptr::null_mut(),
        }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if block as usize + layout.size() == self.mark.get() {
            self.give_back(block as usize);
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the layout is the caller's.
        let block = unsafe { self.alloc(layout) };
        let used = self.used.get().saturating_sub(block as usize);
        if !block.is_null() && used > 0 {
            // SAFETY: no more than the block.
            unsafe { block.write_bytes(0, used.min(layout.size())) };
        }
        block
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let start = block as usize;
        if start + layout.size() == self.mark.get() {
            if size <= layout.size() {
                self.give_back(start + size);
                return block;
            }
            return match start.checked_add(size) {
                Some(end) if self.reach(end) => {
                    self.mark.set(end);
                    block
                }
                _ => core::ptr::null_mut(),
            };
        }
        if size <= layout.size() {
            return block;
        }
        // SAFETY: the alignment is that of a valid layout; the new block is apart from the old one.
        unsafe {
            let moved = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
            if !moved.is_null() {
                core::ptr::copy_nonoverlapping(block, moved, layout.size());
            }
            moved
        }
    }
}
