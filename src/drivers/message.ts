/** RESP2 takes nothing but subscriptions over a connection that has one. */
export const IN_SUBSCRIBER_MODE = 'the client is in subscriber mode: give the driver one of its own'

/** What an error says, of whatever realm it is. */
export function messageOf(error: unknown): string {
  const isObject = typeof error === 'object' && error !== null
  return isObject && 'message' in error && typeof error.message === 'string' && error.message !== ''
    ? error.message
    : String(error)
}
