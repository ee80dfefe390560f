// The requested form of replies, and how long a command may wait to be written.

import type { SendOptions } from './client.ts'

/** Keyed by the first byte of a RESP type. RESP3 replies get the shapes of RESP2. */
const SHAPES_OF_RESP2 = { 35: Number, 37: Array, 40: String, 126: Array }
const TEXT = { ...SHAPES_OF_RESP2, 36: String, 43: String, 44: String, 61: String }
const BYTES = { ...SHAPES_OF_RESP2, 36: Buffer, 43: Buffer, 44: Buffer, 61: Buffer }

// node-redis gives each command an AbortSignal that limits its wait to be written. It costs more than the rest of a
// call, and is useless while the connection is up.
export const AT_ONCE: Record<'text' | 'bytes', SendOptions> = {
  text: { typeMapping: TEXT, timeout: undefined },
  bytes: { typeMapping: BYTES, timeout: undefined },
}
const LONGEST_MS = 540_000

/** `by`: as in ScriptCall. Without it the client's own limit applies. */
export function queued(form: 'text' | 'bytes', by: number | undefined): SendOptions {
  if (by === undefined) return QUEUED[form]
  return { ...QUEUED[form], timeout: Math.min(Math.max(1, Math.ceil(by - performance.now())), LONGEST_MS) }
}

export const QUEUED: Record<'text' | 'bytes', SendOptions> = {
  text: { typeMapping: TEXT },
  bytes: { typeMapping: BYTES },
}
