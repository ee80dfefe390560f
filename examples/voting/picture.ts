// What the page shows of a moment.

import type { Poll, Standing } from './poll.ts'

export interface Picture {
  /** `votes` are those that Redis shows. */
  readonly items: readonly { readonly id: number; readonly title: string; readonly votes: number }[]
  readonly total: number
  readonly votesPerSecond: number
  /** Rows that SQL has not counted yet. */
  readonly waiting: number
  /** How old the oldest of these is; null: there is none. */
  readonly lagMs: number | null
  /** Whether Redis shows what SQL has counted. It is `behind` while votes come, and `differ` should never be seen. */
  readonly sql: 'agrees' | 'behind' | 'differs'
}

/** Looks at a poll again and again, and so knows how fast votes come. */
export class Photographer {
  readonly #poll: Poll
  #last: { readonly total: number; readonly at: number } | undefined

  constructor(poll: Poll) {
    this.#poll = poll
  }

  async take(): Promise<Picture> {
    const { waiting, lagMs, noted } = await this.#poll.votes.inspect()
    const standings = await this.#poll.standings()
    const total = standings.reduce((sum, { shown }) => sum + shown, 0)
    const rate = this.#rate(total)
    return {
      items: standings.map(({ id, title, shown }) => ({ id, title, votes: shown })),
      total,
      votesPerSecond: Math.round(rate),
      waiting,
      lagMs,
      sql: compare(standings, waiting > 0 || noted > 0 || rate !== 0),
    }
  }

  /** Votes a second since the picture before. */
  #rate(total: number): number {
    const [last, now] = [this.#last, performance.now()]
    this.#last = { total, at: now }
    return last === undefined ? 0 : ((total - last.total) * 1000) / (now - last.at)
  }
}

/** While votes come, Redis and SQL were asked at different times. */
function compare(standings: readonly Standing[], isMoving: boolean): Picture['sql'] {
  if (standings.every(({ shown, votes }) => shown === votes)) return 'agrees'
  return isMoving ? 'behind' : 'differs'
}
