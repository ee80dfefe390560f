// The environment of the process, and the error for an invalid one.

export type Environment = Readonly<Record<string, string | undefined>>

/** Why the service cannot start: one line for people, without any password. */
export class StartError extends Error {
  override readonly name = 'StartError'
}
