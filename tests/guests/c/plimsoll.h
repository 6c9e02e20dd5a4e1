// The interface plimsoll:policy@0.1 for ranking policies in C, as its values lie in memory; wit/0.1 says what each one means.
//
// Nothing else is needed: no library, no generator. Memory is handed out from the end of the program's own data and never taken back,
// since an instance lives for one call.
#ifndef PLIMSOLL_H
#define PLIMSOLL_H

#include <stddef.h>
#include <stdint.h>

#define EXPORT(name) __attribute__((export_name(name)))
#define RANKER(function) EXPORT("plimsoll:policy/ranker@0.1.0#" function)
#define LIST(type) struct { type *at; uint32_t count; }

typedef uint32_t sym; // a text: which one of the symbols
typedef LIST(uint8_t) bytes;
typedef LIST(uint32_t) numbers;
typedef LIST(double) dollars;
typedef LIST(uint16_t) reasons;
typedef LIST(void) others; // values that this header does not describe: zones, settings, columns of others

typedef struct { uint64_t generation, now_unix_s, seed; others zones; } context;
typedef struct { bytes blob; numbers ends; } symbols;

typedef struct {
    numbers t_name, t_family;
    bytes t_arch;
    numbers t_cpu_milli, t_mem_mib, t_pods, t_gpus, t_gpu_kind, t_label_ends, t_label_key, t_label_value;
    numbers o_type, o_zone;
    bytes o_capacity;
    dollars o_price;
    numbers o_price_age_s;
    LIST(float) o_interruptions_per_day;
    numbers o_failures_1h, o_reserved_left, o_running;
    others t_ext, o_ext;
} catalog;

typedef struct {
    numbers name, weight, nodes;
    dollars cost;
    numbers cand_ends, cand;
    others p_ext, cand_ext;
} pools;

typedef struct { numbers pool, cpu_milli, mem_mib, pods, gpus, cand_ends, cand; others ext; } claims;

typedef struct { context ctx; others settings; symbols sy; catalog c; pools p; } price_question;
typedef struct { context ctx; others settings; symbols sy; catalog c; claims cl; } order_question;

typedef struct {
    uint8_t declined; // 0: these prices
    dollars first;
    numbers first_count, first_group;
    reasons first_reason;
    dollars then;
    reasons then_reason;
} price_answer;

typedef struct { uint8_t declined; dollars score; reasons reason; } order_answer;
typedef struct { uint8_t declined; others notes; } notes_answer;

extern uint8_t __heap_base;
static uintptr_t next_free;

/// Bytes for as long as the call lasts, all of them zero.
static void *take(size_t size, size_t align) {
    uintptr_t at = next_free ? next_free : (uintptr_t)&__heap_base;
    at = (at + align - 1) & ~(uintptr_t)(align - 1);
    next_free = at + size;
    size_t pages = (next_free + 65535) >> 16, there = __builtin_wasm_memory_size(0);
    if (pages > there && __builtin_wasm_memory_grow(0, pages - there) == (size_t)-1) __builtin_trap();
    return (void *)at;
}

#define TAKE(list, rows) ((list).at = take(sizeof *(list).at * (rows), 8), (list).count = (rows))

/// How the host asks for room for its question.
EXPORT("cabi_realloc") void *plimsoll_realloc(void *old, size_t old_size, size_t align, size_t size) {
    uint8_t *at = take(size, align);
    for (size_t byte = 0; byte < old_size && byte < size; byte++) at[byte] = ((uint8_t *)old)[byte];
    return at;
}

#endif
