// Attempts to get a lock or a permit, by the rules of src/runtime/waiting/waiter.ts, and what each process believes.

export type Mode = 'exclusive' | 'barging' | 'shared'

export interface Attempt {
  readonly id: string
  readonly process: string
  readonly mode: Mode
  readonly weight: number
  /** 'refused': the server refused its call, and it has not given up what it may have got. */
  state: 'new' | 'waiting' | 'holding' | 'refused' | 'over'
  token: string
  /** Its process believes that it holds until then. */
  untilMs: number
  asks: number
  askedMs: number
  letters: string[]
}

export function newAttempt(id: string, process: string, mode: Mode, weight: number): Attempt {
  return {
    id,
    process,
    mode,
    weight,
    state: 'new',
    token: '0',
    untilMs: 0,
    asks: 0,
    askedMs: 0,
    letters: [],
  }
}

/** The operation of this name for its mode. */
export function forMode(mode: Mode, name: string): string {
  return mode === 'shared' ? `${name}-shared` : name
}

export function believes(attempt: Attempt, nowMs: number): boolean {
  return attempt.state === 'holding' && attempt.untilMs > nowMs
}

/**
 * Reads its oldest letter: takes the lease that is granted in it, and returns false; true when it has to ask instead.
 */
export function hasToAsk(attempt: Attempt, leaseMs: number, nowMs: number): boolean {
  const [word, , token = '0', untilMs = '0', grantedMs = '0'] = attempt.letters.shift()?.split(' ') ?? []
  if (word === 'first') return false
  const isWhole = Number(untilMs) - Number(grantedMs) >= leaseMs
  if (word !== 'granted' || !isWhole || Number(untilMs) <= nowMs) return true
  // From before its last question, which was answered otherwise.
  if (Number(grantedMs) <= attempt.askedMs && Number(grantedMs) < nowMs) return false
  attempt.state = 'holding'
  attempt.token = token
  attempt.untilMs = Number(untilMs)
  return false
}
