/** On RESP2 a connection with a subscription accepts no other commands. */
export const IN_SUBSCRIBER_MODE = 'the client is in subscriber mode: give the driver one of its own'

/** The message of an error of any realm. */
export function messageOf(error: unknown): string {
  const isObject = typeof error === 'object' && error !== null
  return isObject && 'message' in error && typeof error.message === 'string' && error.message !== ''
    ? error.message
    : String(error)
}

/**
 * True for the error of a server that has reached its client limit and reads nothing from this client. The client
 * libraries return it as the answer to whichever command waits for the connection.
 */
export function isOfNoRoom(message: string): boolean {
  return message.startsWith('ERR max number of clients')
}
