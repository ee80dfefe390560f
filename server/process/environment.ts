// What is set outside of the process, and how it is told that it cannot stand.

export type Environment = Readonly<Record<string, string | undefined>>

/** Why the service cannot start: one line for people, without any password. */
export class StartError extends Error {
  override readonly name = 'StartError'
}
