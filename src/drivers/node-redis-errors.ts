import { ConnectionLostError, ServerReplyError } from '../driver.ts'

/** What node-redis throws for a command that never left its queue. */
const NEVER_WRITTEN = /^(?:The client is closed|The client is offline|The queue is full)$/
const REPLY_CLASSES = new Set(['ErrorReply', 'SimpleError', 'BlobError'])

/** Turns what node-redis threw into one of the two errors of the port. */
export function explain(error: unknown): Error {
  if (isReply(error)) return new ServerReplyError(error.message, { cause: error })
  const cause = error instanceof Error ? error.cause : undefined
  if (isReply(cause)) return new ServerReplyError(cause.message, { cause: error }) // too many redirections
  const message = error instanceof Error && error.message !== '' ? error.message : String(error)
  return new ConnectionLostError(message, !wasNeverWritten(error), { cause: error })
}

/** By the class; in a minified bundle, which renames classes, by the code word that begins a reply. */
function isReply(error: unknown): error is Error {
  if (!(error instanceof Error)) return false
  return REPLY_CLASSES.has(error.constructor.name) || /^[A-Z][A-Z0-9]+ /.test(error.message)
}

/** TimeoutError, too, is only for commands that still wait to be written. */
function wasNeverWritten(error: unknown): boolean {
  return (
    error instanceof Error && (NEVER_WRITTEN.test(error.message) || error.constructor.name === 'TimeoutError')
  )
}
