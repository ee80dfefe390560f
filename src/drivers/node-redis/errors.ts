// What node-redis throws, by what it says and carries: a minified bundle renames its classes, and the sandbox of a test runner
// has an Error of its own.

import { ConnectionLostError, ServerReplyError } from '../../driver.ts'
import { IN_SUBSCRIBER_MODE, isOfNoRoom, messageOf } from '../wire/message.ts'
import type { PendingRun } from '../wire/pending-runs.ts'

/** What node-redis throws for a command that never left its queue. */
const NEVER_WRITTEN =
  /^(?:The client is closed|The client is offline|The queue is full|Command timeout during maintenance)/
const REPLY_CLASSES = new Set(['ErrorReply', 'SimpleError', 'BlobError'])

/** What a call fails with whose slot the client knows no node for. */
export const NO_NODE = 'the client knows no node that has the slot'

interface Thrown {
  readonly message: string
}

/** Turns what node-redis threw into one of the two errors of the port. */
export function explain(error: unknown, run: Pick<PendingRun, 'written'> = { written: false }): Error {
  if (error instanceof ConnectionLostError) return error
  if (isReply(error) && isOfNoRoom(error.message))
    return new ConnectionLostError(error.message, false, { cause: error })
  if (isReply(error)) return new ServerReplyError(textOf(error.message), { cause: error })
  const cause = isThrown(error) && 'cause' in error ? error.cause : undefined
  if (isReply(cause)) return new ServerReplyError(cause.message, { cause: error }) // too many redirections
  if (isWithoutNode(error)) return new ConnectionLostError(NO_NODE, false, { cause: error })
  return new ConnectionLostError(messageOf(error), !wasNeverWritten(error, run), { cause: error })
}

/** What the server says of a connection that subscribes, on RESP2, says not what to do. */
function textOf(reply: string): string {
  return reply.includes('only (P|S)SUBSCRIBE') ? `ERR ${IN_SUBSCRIBER_MODE}` : reply
}

/** By the class; where that has another name, by the code word that begins a reply. */
function isReply(error: unknown): error is Thrown {
  if (!isThrown(error)) return false
  return REPLY_CLASSES.has(error.constructor.name) || /^[A-Z][A-Z0-9]+ /.test(error.message)
}

function wasNeverWritten(error: unknown, run: Pick<PendingRun, 'written'>): boolean {
  if (!isThrown(error)) return false
  return NEVER_WRITTEN.test(error.message) || (isTimeout(error) && !run.written)
}

/**
 * Reading the master of a slot that its table lacks, node-redis throws what the language throws: before it sends the command, or
 * after the command was refused with MOVED.
 */
function isWithoutNode(error: unknown): boolean {
  return isThrown(error) && error.constructor.name === 'TypeError' && /\bmaster\b/.test(error.message)
}

/** The one error that says and carries nothing; commands that wait to be written end with it, and rarely others. */
function isTimeout(error: Thrown): boolean {
  return error.message === '' && !('code' in error) && !('errors' in error)
}

function isThrown(error: unknown): error is Thrown {
  return (
    typeof error === 'object' && error !== null && 'message' in error && typeof error.message === 'string'
  )
}
