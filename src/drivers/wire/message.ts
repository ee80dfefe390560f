/** RESP2 takes nothing but subscriptions over a connection that has one. */
export const IN_SUBSCRIBER_MODE = 'the client is in subscriber mode: give the driver one of its own'

/** What an error says, of whatever realm it is. */
export function messageOf(error: unknown): string {
  const isObject = typeof error === 'object' && error !== null
  return isObject && 'message' in error && typeof error.message === 'string' && error.message !== ''
    ? error.message
    : String(error)
}

/**
 * True for what a server says that has no room for another client, and reads nothing of it. The client libraries give it to
 * whatever waits for the connection, as if it were the answer.
 */
export function isOfNoRoom(message: string): boolean {
  return message.startsWith('ERR max number of clients')
}
