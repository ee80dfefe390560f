/** What an error says, of whatever realm it is. */
export function messageOf(error: unknown): string {
  const isObject = typeof error === 'object' && error !== null
  return isObject && 'message' in error && typeof error.message === 'string' && error.message !== ''
    ? error.message
    : String(error)
}
