// Classifies the errors of node-redis by message and fields: a minified bundle renames its classes, and the sandbox of
// a test runner has its own Error class.

import { ConnectionLostError, ServerReplyError } from '../../driver.ts'
import { IN_SUBSCRIBER_MODE, isOfNoRoom, messageOf } from '../wire/message.ts'
import type { PendingRun } from '../wire/pending-runs.ts'

/** The error of node-redis for a command that never left its queue. */
const NEVER_WRITTEN =
  /^(?:The client is closed|The client is offline|The queue is full|The command was aborted|Command timeout during maintenance)/
const REPLY_CLASSES = new Set(['ErrorReply', 'SimpleError', 'BlobError'])

/** The error for a slot whose node the client does not know. */
export const NO_NODE = 'the client knows no node that has the slot'

interface Thrown {
  readonly message: string
}

/** Converts a node-redis error into one of the two errors of the port. */
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

/** Adds advice to the server's error for a RESP2 connection in subscriber mode. */
function textOf(reply: string): string {
  return reply.includes('only (P|S)SUBSCRIBE') ? `ERR ${IN_SUBSCRIBER_MODE}` : reply
}

/** By the class name; when that is renamed, by the error code that begins a reply. */
function isReply(error: unknown): error is Thrown {
  if (!isThrown(error)) return false
  return REPLY_CLASSES.has(error.constructor.name) || /^[A-Z][A-Z0-9]+ /.test(error.message)
}

function wasNeverWritten(error: unknown, run: Pick<PendingRun, 'written'>): boolean {
  if (!isThrown(error)) return false
  return NEVER_WRITTEN.test(error.message) || (isTimeout(error) && !run.written)
}

/**
 * When its table lacks the primary of a slot, node-redis throws a TypeError: before it sends the command, or after a
 * MOVED in answer to the command.
 */
function isWithoutNode(error: unknown): boolean {
  return isThrown(error) && error.constructor.name === 'TypeError' && /\bmaster\b/.test(error.message)
}

/** An error without message and fields; mostly the timeout of commands that wait to be written. */
function isTimeout(error: Thrown): boolean {
  return error.message === '' && !('code' in error) && !('errors' in error)
}

function isThrown(error: unknown): error is Thrown {
  return (
    typeof error === 'object' && error !== null && 'message' in error && typeof error.message === 'string'
  )
}
