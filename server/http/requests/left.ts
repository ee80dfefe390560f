// Whether the client still waits for the answer.

import type { FastifyReply } from 'fastify'

/** The error of work that ended because its client has left; it is never sent. */
export const LEFT: Error = new Error('the client has left')

/** Aborts with LEFT when the client leaves before its answer. */
export function untilLeft({ raw }: FastifyReply): AbortSignal {
  const leaving = new AbortController()
  if (raw.destroyed) leaving.abort(LEFT)
  else raw.once('close', () => void (raw.writableFinished || leaving.abort(LEFT)))
  return leaving.signal
}
