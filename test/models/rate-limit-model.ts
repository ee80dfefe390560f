// A limiter in plain arithmetic: whole numbers of any size, nothing packed.

export interface Terms {
  readonly name: string
  readonly algorithm: 'gcra' | 'sliding-window' | 'concurrency'
  readonly limit: number
  readonly window_ms: number
  readonly burst: number
}

/** One limit of one subject. */
export interface LimitModel {
  free(nowUs: number): number
  resetUs(nowUs: number): number
  /** 0: allowed now. */
  waitUs(nowUs: number, cost: number): number
  count(nowUs: number, cost: number, token: number): void
  refund(nowUs: number, cost: number, atUs: number): void
  /** Removes past takes, as every write does: a small step back of the clock does not bring them back. */
  settle(nowUs: number): void
}

function modelOf(terms: Terms): LimitModel {
  if (terms.algorithm === 'gcra') return new GcraModel(terms)
  return terms.algorithm === 'concurrency' ? new PlacesModel(terms) : new WindowModel(terms)
}

/** Time in parts of a microsecond, so that a unit costs a whole number of them. */
class GcraModel implements LimitModel {
  readonly #parts: bigint
  readonly #unit: bigint
  readonly #span: bigint
  #arrival = 0n

  constructor({ limit, window_ms, burst }: Terms) {
    this.#parts = BigInt(limit)
    this.#unit = BigInt(window_ms) * 1000n
    this.#span = this.#unit * BigInt(burst)
  }

  free(nowUs: number): number {
    return Number((this.#span - this.#ahead(nowUs)) / this.#unit)
  }

  resetUs(nowUs: number): number {
    return this.#usUp(this.#ahead(nowUs))
  }

  waitUs(nowUs: number, cost: number): number {
    return Math.max(0, this.#usUp(this.#ahead(nowUs) + this.#unit * BigInt(cost) - this.#span))
  }

  count(nowUs: number, cost: number): void {
    this.#arrival = BigInt(nowUs) * this.#parts + this.#ahead(nowUs) + this.#unit * BigInt(cost)
  }

  refund(nowUs: number, cost: number, atUs: number): void {
    const flowedBack = BigInt(Math.max(0, nowUs - atUs)) * this.#parts
    const back = this.#unit * BigInt(cost) - flowedBack
    if (back > 0n) this.#arrival -= back
    if (this.#ahead(nowUs) === 0n) this.#arrival = 0n
  }

  settle(nowUs: number): void {
    const ahead = this.#ahead(nowUs)
    this.#arrival = ahead === 0n ? 0n : BigInt(nowUs) * this.#parts + ahead
  }

  /** After a small step back of the clock no more than a whole burst. */
  #ahead(nowUs: number): bigint {
    const ahead = this.#arrival - BigInt(nowUs) * this.#parts
    if (ahead > this.#span) return this.#span
    return ahead > 0n ? ahead : 0n
  }

  #usUp(parts: bigint): number {
    return parts <= 0n ? 0 : Number((parts + this.#parts - 1n) / this.#parts)
  }
}

class WindowModel implements LimitModel {
  readonly #limit: number
  readonly #windowUs: number
  #entries: { part: number; lastUs: number; units: number }[] = []

  constructor({ limit, window_ms }: Terms) {
    this.#limit = limit
    this.#windowUs = window_ms * 1000
  }

  free(nowUs: number): number {
    return this.#limit - this.#inside(nowUs).reduce((sum, { units }) => sum + units, 0)
  }

  resetUs(nowUs: number): number {
    const last = this.#inside(nowUs).at(-1)
    return last === undefined ? 0 : last.lastUs + this.#windowUs - nowUs
  }

  waitUs(nowUs: number, cost: number): number {
    let [free, wait] = [this.free(nowUs), 0]
    for (const { lastUs, units } of this.#inside(nowUs)) {
      if (free >= cost) break
      free += units
      wait = lastUs + this.#windowUs - nowUs
    }
    return wait
  }

  count(nowUs: number, cost: number): void {
    const last = this.#entries.at(-1)
    const lastUs = Math.max(nowUs, last?.lastUs ?? 0)
    const part = Math.floor(lastUs / (this.#windowUs / 64))
    if (last?.part === part) Object.assign(last, { lastUs, units: last.units + cost })
    else this.#entries.push({ part, lastUs, units: cost })
  }

  refund(nowUs: number, cost: number, atUs: number): void {
    // A token may lie ahead of its take, by less than this.
    if (atUs + this.#windowUs <= nowUs + 1000) return
    let left = cost
    for (const entry of this.#entries) {
      const given = Math.min(left, entry.units)
      entry.units -= given
      left -= given
    }
    this.#entries = this.#entries.filter(({ units }) => units > 0)
  }

  settle(nowUs: number): void {
    this.#entries = this.#inside(nowUs)
  }

  #inside(nowUs: number): { part: number; lastUs: number; units: number }[] {
    return this.#entries.filter(({ lastUs }) => lastUs + this.#windowUs > nowUs)
  }
}

class PlacesModel implements LimitModel {
  readonly #limit: number
  readonly #leaseUs: number
  readonly #ends = new Map<number, number>()

  constructor({ limit, window_ms }: Terms) {
    this.#limit = limit
    this.#leaseUs = window_ms * 1000
  }

  free(nowUs: number): number {
    return this.#limit - this.#held(nowUs).length
  }

  resetUs(nowUs: number): number {
    return Math.max(nowUs, ...this.#held(nowUs)) - nowUs
  }

  waitUs(nowUs: number): number {
    return this.free(nowUs) > 0 ? 0 : Math.min(...this.#held(nowUs)) - nowUs
  }

  count(nowUs: number, _cost: number, token: number): void {
    this.#ends.set(token, nowUs + this.#leaseUs)
  }

  refund(): void {
    // A refund gives back units; the place stays with the take.
  }

  /** False when the take holds no place. */
  release(nowUs: number, token: number): boolean {
    const ends = this.#ends.get(token)
    return ends !== undefined && ends > nowUs && this.#ends.delete(token)
  }

  settle(nowUs: number): void {
    for (const [token, ends] of this.#ends) if (ends <= nowUs) this.#ends.delete(token)
  }

  #held(nowUs: number): number[] {
    return [...this.#ends.values()].filter((ends) => ends > nowUs)
  }
}

/** A clock that steps back by less than this is waited for. */
export const STEP_US = 10_000

/** Several limits of one subject. Each call names some of them, and takes all or none of these. */
export class SubjectModel {
  readonly #all: ReadonlyMap<string, LimitModel>
  readonly #refunded = new Set<number>()
  /** Those that the call names. */
  #limits: readonly LimitModel[] = []
  #token = 0
  /** The subject's time at its newest take, whose token may be ahead of that. */
  #takenUs = 0
  #offsetUs = 0
  /** The subject's time in this call. */
  #ownUs = 0
  /** By the server's clock. */
  nowUs: number

  constructor(terms: readonly Terms[], nowUs: number) {
    this.#all = new Map(terms.map((each) => [each.name, modelOf(each)]))
    this.nowUs = nowUs
  }

  take(terms: readonly Terms[], cost: number): unknown[] {
    this.#look(terms)
    return this.#takeNow(cost)
  }

  /** Takes of one cost one after the other, as many as are allowed, in the form of `take-each`. */
  takeEach(terms: Terms, cost: number, count: number): [number, number, number, number, number] {
    this.#look([terms])
    this.#keepTime()
    let granted = 0
    while (granted < count && this.#denied(cost) === null) {
      this.#takeNow(cost)
      granted += 1
    }
    const [limit] = this.#limits as [LimitModel]
    const first = granted === 0 ? 0 : this.#token - granted + 1
    const waitUs = granted === count ? 0 : limit.waitUs(this.#ownUs, cost)
    return [granted, first, limit.free(this.#ownUs), limit.resetUs(this.#ownUs), waitUs]
  }

  get(terms: readonly Terms[], cost: number): unknown[] {
    this.#look(terms)
    return this.#denied(cost) ?? ['allowed', this.nowUs, this.#states()]
  }

  refund(terms: readonly Terms[], cost: number, token: number): unknown[] {
    this.#look(terms)
    if (this.#token === 0) return ['absent']
    if (token > 0 && this.#refunded.has(token)) return ['known', this.nowUs, this.#states()]
    this.#settle()
    this.#refunded.add(token)
    for (const limit of this.#limits) limit.refund(this.#ownUs, cost, token || this.#ownUs)
    return ['refunded', this.nowUs, this.#states()]
  }

  release(terms: readonly Terms[], token: number): unknown[] {
    this.#look(terms)
    const places = this.#limits.filter((limit) => limit instanceof PlacesModel)
    const freed = places.map((limit) => limit.release(this.#ownUs, token))
    if (!freed.includes(true)) return ['lost']
    this.#settle()
    return ['released']
  }

  #takeNow(cost: number): unknown[] {
    this.#keepTime()
    const denied = this.#denied(cost)
    if (denied !== null) return denied
    this.#settle()
    this.#token = Math.max(this.#token + 1, this.#ownUs)
    this.#takenUs = Math.max(this.#takenUs, this.#ownUs)
    for (const limit of this.#limits) limit.count(this.#ownUs, cost, this.#token)
    return ['taken', this.#token, this.nowUs, this.#states()]
  }

  /** The subject's own time does not step back, whichever limits its newest take was of. */
  #look(terms: readonly Terms[]): void {
    this.#limits = terms.map(({ name }) => this.#all.get(name) as LimitModel)
    const ownUs = this.nowUs + this.#offsetUs
    this.#ownUs = this.#takenUs > ownUs + STEP_US ? this.#takenUs : ownUs
  }

  #settle(): void {
    this.#keepTime()
    for (const limit of this.#limits) limit.settle(this.#ownUs)
  }

  /** Also a take that is denied keeps it. */
  #keepTime(): void {
    this.#offsetUs = this.#ownUs - this.nowUs
  }

  #denied(cost: number): unknown[] | null {
    const waits = this.#limits.map((limit) => limit.waitUs(this.#ownUs, cost))
    const longest = Math.max(...waits)
    return longest === 0 ? null : ['denied', waits.indexOf(longest) + 1, longest, this.nowUs, this.#states()]
  }

  #states(): number[][] {
    return this.#limits.map((limit) => [limit.free(this.#ownUs), limit.resetUs(this.#ownUs)])
  }
}
