import { ConnectionLostError, ServerReplyError } from '../driver.ts'
import type { PendingRun } from './pending.ts'

/** What ioredis throws when it drops a command that it never took out of its offline queue. */
const NEVER_WRITTEN =
  /^(?:Connection is closed\.|Reached the max retries per request limit|Stream isn't writeable and enableOfflineQueue)/

/** Turns what ioredis threw into one of the two errors of the port. */
export function explain(error: unknown, run: Pick<PendingRun, 'written'>): Error {
  const reply = replyIn(error)
  if (reply !== undefined) return new ServerReplyError(reply, { cause: error })
  const message = error instanceof Error ? error.message : String(error)
  return new ConnectionLostError(message, run.written || !NEVER_WRITTEN.test(message), { cause: error })
}

function replyIn(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  if (error.name === 'ReplyError') return error.message
  if ('lastNodeError' in error) return replyIn(error.lastNodeError) // ClusterAllFailedError
  return /^Too many Cluster redirections\. Last error: ReplyError: (.+)$/.exec(error.message)?.[1]
}
