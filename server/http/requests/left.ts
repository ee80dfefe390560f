// Whether somebody still waits for the answer.

import type { FastifyReply } from 'fastify'

/** Why the work of a request ended whose client is not there any more: nobody hears of it. */
export const LEFT: Error = new Error('the client has left')

/** Aborts with LEFT when the client leaves before it has its answer. */
export function untilLeft({ raw }: FastifyReply): AbortSignal {
  const leaving = new AbortController()
  if (raw.destroyed) leaving.abort(LEFT)
  else raw.once('close', () => void (raw.writableFinished || leaving.abort(LEFT)))
  return leaving.signal
}
