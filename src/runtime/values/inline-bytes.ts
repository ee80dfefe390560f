/**
 * The size up to which scripts store payloads and bodies in a record; larger ones are stored separately. The same as in
 * lua/shared/budget.
 */
export const INLINE_BYTES: number = 16 * 1024
