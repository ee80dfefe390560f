import { ServerReplyError } from './driver.ts'

/** True when the user of the client lacks the right to a command. */
export function isForbidden(error: unknown): boolean {
  return error instanceof ServerReplyError && error.word === 'NOPERM'
}
