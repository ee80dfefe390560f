// Recurring jobs as a plain program: the runs of each are a grid of times, and it remembers its last one.

export interface Rule {
  everyMs: number
  offsetMs: number
  /** Whether the server computes its times, or is given them. */
  isCron: boolean
}

export interface Terms {
  missed: number
  limit: number
  /** 0: no end. */
  untilMs: number
}

interface Recurrence {
  rule: Rule
  terms: Terms
  /** All runs up to here are over. */
  behindMs: number
  /** Up to where the times are known; of an interval all are. */
  knownMs: number
  isComplete: boolean
  lastMs: number
  runs: number
}

export interface Shown {
  nextMs: number
  lastMs: number
  runs: number
}

export class RecurrenceModel {
  readonly #all = new Map<string, Recurrence>()
  nowMs: number
  isPaused = false

  constructor(nowMs: number) {
    this.nowMs = nowMs
  }

  set(id: string, rule: Rule, terms: Terms): void {
    const before = this.#all.get(id)
    if (before !== undefined && same(before.rule, rule) && same(before.terms, terms)) return
    const behindMs = before === undefined ? this.nowMs : this.#goesOnBehind(before, rule)
    const { lastMs = 0, runs = 0 } = before ?? {}
    this.#all.set(id, { rule, terms, behindMs, knownMs: behindMs, isComplete: false, lastMs, runs })
  }

  #goesOnBehind(before: Recurrence, rule: Rule): number {
    if (!same(before.rule, rule) || this.#hasEnded(before)) return Math.max(this.nowMs, before.lastMs)
    const [next] = this.#coming(before)
    return next === undefined ? before.knownMs : next - 1
  }

  remove(id: string): boolean {
    return this.#all.delete(id)
  }

  /** The times that a caller would compute: so many of the rule after `afterMs`. */
  timesOf({ everyMs, offsetMs }: Rule, afterMs: number, count: number): number[] {
    const first = (Math.floor((afterMs - offsetMs) / everyMs) + 1) * everyMs + offsetMs
    return Array.from({ length: count }, (_, at) => first + at * everyMs)
  }

  find(id: string): { readonly rule: Rule; readonly knownMs: number } | undefined {
    return this.#all.get(id)
  }

  refill(
    id: string,
    rule: Rule,
    afterMs: number,
    times: readonly number[],
  ): 'absent' | 'changed' | 'refilled' {
    const found = this.#all.get(id)
    if (found === undefined) return 'absent'
    if (!same(found.rule, rule) || afterMs > found.knownMs) return 'changed'
    if (found.isComplete || this.#hasEnded(found)) return 'refilled'
    const { untilMs } = found.terms
    const kept = times.filter((time) => untilMs === 0 || time <= untilMs)
    if (times.length === 0 || kept.length < times.length) found.isComplete = true
    found.knownMs = Math.max(found.knownMs, ...kept)
    return 'refilled'
  }

  /** The ids of the jobs that are spawned, in their order. */
  spawn(): string[] {
    if (this.isPaused) return []
    const due = [...this.#all].filter(([, each]) => (this.#coming(each)[0] ?? Infinity) <= this.nowMs)
    const first = ([id, each]: [string, Recurrence]): [number, string] => [this.#coming(each)[0] ?? 0, id]
    due.sort((one, other) => compare(first(one), first(other)))
    return due.flatMap(([id, each]) => this.#spawnOf(each).map((time) => `${id}@${time}`))
  }

  #spawnOf(each: Recurrence): number[] {
    const coming = this.#coming(each)
    const due = coming.filter((time) => time <= this.nowMs)
    // Whether the last of them was missed is unknown.
    if (each.rule.isCron && !each.isComplete && due.length === coming.length) return []
    const { missed, limit } = each.terms
    const isLate = this.nowMs - (due.at(-1) ?? 0) > 60_000
    const latest = missed > 0 ? due.slice(-missed) : isLate ? [] : due.slice(-1)
    const times = latest.slice(0, limit === 0 ? undefined : limit - each.runs)
    each.behindMs = due.at(-1) ?? each.behindMs
    each.runs += times.length
    each.lastMs = times.at(-1) ?? each.lastMs
    return times
  }

  shown(id: string): Shown | undefined {
    const found = this.#all.get(id)
    return found && { nextMs: this.#coming(found)[0] ?? 0, lastMs: found.lastMs, runs: found.runs }
  }

  #hasEnded({ rule, terms, behindMs, knownMs, isComplete, runs }: Recurrence): boolean {
    if (terms.limit > 0 && runs >= terms.limit) return true
    const [next = 0] = this.timesOf(rule, behindMs, 1)
    if (!rule.isCron) return terms.untilMs > 0 && next > terms.untilMs
    return isComplete && next > knownMs
  }

  /** The known runs that are not over: at least one after now, if there is one. */
  #coming(each: Recurrence): number[] {
    if (this.#hasEnded(each)) return []
    const { rule, terms, behindMs, knownMs } = each
    const span = Math.max(this.nowMs, knownMs) - behindMs
    const times = this.timesOf(rule, behindMs, Math.floor(Math.max(0, span) / rule.everyMs) + 2)
    const endMs = terms.untilMs === 0 ? Infinity : terms.untilMs
    return times.filter((time) => time <= endMs && (!rule.isCron || time <= knownMs))
  }
}

function same(one: object, other: object): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

function compare(one: readonly [number, string], other: readonly [number, string]): number {
  return one[0] - other[0] || (one[1] < other[1] ? -1 : 1)
}
