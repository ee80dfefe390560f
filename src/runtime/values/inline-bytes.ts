/** What scripts store in a record; larger payloads and bodies stand apart. As in lua/shared/budget. */
export const INLINE_BYTES: number = 16 * 1024
