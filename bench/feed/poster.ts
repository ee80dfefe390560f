/** What posts messages to one feed, however many producers call it at the same time. */
export interface Poster {
  /** How often a post had to begin again because another one came between. */
  readonly retries: number
  /** Posts in one step; no other message falls between. */
  post(bodies: readonly string[]): Promise<unknown>
  close(): Promise<void>
}

export const BODY: string = 'perilune '.repeat(12).slice(0, 100)

/** All messages live this long; nothing expires while the bench runs. */
export const LIFE_S = 86_400
