// Classifies the errors of ioredis by message and fields: a minified bundle renames its classes, and the sandbox of a
// test runner has its own Error class.

import { ConnectionLostError, ServerReplyError } from '../../driver.ts'
import type { PendingRun } from '../wire/pending-runs.ts'
import { IN_SUBSCRIBER_MODE, isOfNoRoom, messageOf } from '../wire/message.ts'

/** The error of ioredis for a command that it dropped from its offline queue. */
const NEVER_WRITTEN =
  /^(?:Connection is closed\.|Reached the max retries per request limit|Stream isn't writeable and enableOfflineQueue)/
/** The only error that names its command and is no reply. */
const ABORTED = 'Command aborted due to connection close'
/** The error of ioredis itself for a connection in subscriber or monitor mode; a retry would always fail. */
const UNFIT = /^Connection (?:in subscriber mode|is in monitoring mode)/
const TOO_MANY_REDIRECTIONS = /^Too many Cluster redirections\. Last error: [^ ]+: (.+)$/

/** Converts an ioredis error into one of the two errors of the port. */
export function explain(error: unknown, run: Pick<PendingRun, 'written'>): Error {
  if (error instanceof ConnectionLostError) return error
  const reply = replyIn(error)
  if (reply !== undefined && isOfNoRoom(reply)) return new ConnectionLostError(reply, false, { cause: error })
  if (reply !== undefined) return new ServerReplyError(reply, { cause: error })
  const message = messageOf(error)
  if (UNFIT.test(message)) return new ServerReplyError(`ERR ${IN_SUBSCRIBER_MODE}`, { cause: error })
  return new ConnectionLostError(message, run.written || !NEVER_WRITTEN.test(message), { cause: error })
}

function replyIn(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined
  const message = messageOf(error)
  if ('command' in error && message !== ABORTED) return message
  if ('lastNodeError' in error) return replyIn(error.lastNodeError) // ClusterAllFailedError
  return TOO_MANY_REDIRECTIONS.exec(message)?.[1]
}
