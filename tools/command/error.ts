/** What is wrong, in the user's words; the message says all. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
}
