// A lock without Redis: one holder or several readers, and a line. Answers are the scripts'.

export type Kind = 'x' | 's' | 'b'

export interface Attempt {
  readonly id: string
  readonly kind: Kind
  readonly leaseMs: number
  /** Its process has died, and the server can detect it. */
  readonly dead: boolean
}

/**
 * One in line, and how often others have looked while it was the first and did not ask: up to twice, four seconds
 * apart.
 */
interface Waiter extends Attempt {
  looks: number
  lookedS: number
}

interface Lease {
  readonly id: string
  readonly token: number
  endsMs: number
}

const CLAIM_MS = 1000
const CHANCE_MS = 2000
const TRY_AGAIN_MS = 2
const PASSING_MS = 20
const SILENT_S = 4

export class LockModel {
  nowUs: number
  #token = 0
  #holder: Lease | null = null
  #givenBack = true
  #readers: Lease[] = []
  #line: Waiter[] = []
  /** The lock has had no holder since it was given back. */
  #untouched = true
  /** Was called, and has not come yet. */
  #called: { id: string; untilMs: number } | null = null

  constructor(nowUs: number) {
    this.nowUs = nowUs
  }

  acquire(one: Attempt, waits: boolean): unknown[] {
    const held = one.kind === 's' ? this.#reading(one.id) : this.#holding(one.id)
    if (held !== undefined) return this.#granted(held)
    return one.kind === 's' ? this.#join(one, waits) : this.#take(one, waits)
  }

  release(token: number): unknown[] {
    if (this.#holder?.token !== token || this.#readers.length > 0) return ['lost']
    if (this.#givenBack) return ['released', this.#line.length > 0]
    if (!this.#isHeld) return ['lost']
    this.#givenBack = true
    this.#untouched = true
    return ['released', !this.#isCalled && this.#serve('') === 'more']
  }

  releaseShared(token: number): unknown[] {
    if (!this.#live.some((reader) => reader.token === token)) return ['lost']
    this.#readers = this.#live.filter((reader) => reader.token !== token)
    if (this.#readers.length === 0) {
      this.#untouched = true
      this.#serveShared('')
    }
    return ['released', false]
  }

  extend(token: number, leaseMs: number): unknown[] {
    const held = this.#isHeld && this.#holder?.token === token ? this.#holder : undefined
    const lease = held ?? this.#live.find((reader) => reader.token === token)
    if (lease !== undefined) lease.endsMs = this.#nowMs + leaseMs
    return ['extended', this.#nowMs, [lease?.endsMs ?? 0]]
  }

  abandon({ id }: Attempt): unknown[] {
    const left = this.#leaveLine(id)
    if (this.#holding(id) !== undefined) {
      this.#givenBack = true
      this.#untouched = true
    }
    this.#come(id)
    if (this.#isFree) return ['abandoned', this.#serve('') === 'more']
    if (left) this.#callFirst()
    return ['abandoned', left && !this.#isHeld && this.#line[0]?.kind === 's']
  }

  abandonShared({ id }: Attempt): unknown[] {
    this.#leaveLine(id)
    this.#readers = this.#live.filter((reader) => reader.id !== id)
    if (this.#isHeld) this.#callFirst()
    else this.#serveShared('')
    return ['abandoned', false]
  }

  serve(): unknown[] {
    if (!this.#isHeld) this.#serveShared('')
    return ['served', false]
  }

  inspect(): unknown[] {
    const leases = this.#isHeld && this.#holder ? [this.#holder] : this.#live
    const sorted = leases.toSorted((a, b) => a.endsMs - b.endsMs || a.token - b.token)
    const rows = sorted.map(({ token, endsMs }) => [token, endsMs, 'ada'])
    const line = this.#line.map(({ id, kind }) => [id, kind, 'ada'])
    const mode = this.#isFree ? '*' : this.#isHeld ? 'x' : 's'
    return ['inspection', mode, this.#token, this.#nowMs, rows, line.length, line]
  }

  get #nowMs(): number {
    return Math.floor(this.nowUs / 1000)
  }

  get #isHeld(): boolean {
    return !this.#givenBack && this.#holder !== null && this.#holder.endsMs > this.#nowMs
  }

  get #live(): Lease[] {
    return this.#readers.filter(({ endsMs }) => endsMs > this.#nowMs)
  }

  get #isFree(): boolean {
    return !this.#isHeld && this.#live.length === 0
  }

  #holding(id: string): Lease | undefined {
    return this.#isHeld && this.#holder?.id === id ? this.#holder : undefined
  }

  #reading(id: string): Lease | undefined {
    return this.#live.find((reader) => reader.id === id)
  }

  #take(one: Attempt, waits: boolean): unknown[] {
    const passes = one.kind === 'b' && !waits
    const called = this.#isCalled && this.#called?.id === one.id
    if (this.#untouched && (this.#line.length === 0 || passes)) {
      this.#come(one.id)
      this.#missOverdue()
      this.#grant(one, one.leaseMs)
      return this.#granted(this.#holder)
    }
    const mine = this.#isFree && one.kind === 'b'
    const served = this.#isFree && !mine ? this.#serve(one.id) : undefined
    if (!mine && served !== 'own' && served !== 'empty') {
      if (waits && called && !this.#passesBy) this.#standAgain(one)
      else if (waits && called) return this.#tryAgain(one, served === 'more')
      return this.#refuse(one, waits, served === 'more')
    }
    this.#come(one.id)
    this.#missOverdue()
    this.#grant(one, one.leaseMs)
    this.#leaveLine(one.id)
    this.#callFirst()
    return this.#granted(this.#holder)
  }

  #join(one: Attempt, waits: boolean): unknown[] {
    this.#readers = this.#live
    const served = this.#isHeld ? 'served' : this.#serveShared(one.id)
    const isKept = this.#isHeld || (this.#isFree && this.#isCalled)
    if (isKept || (served !== 'own' && this.#line.length > 0)) return this.#refuse(one, waits, false)
    this.#leaveLine(one.id)
    this.#letIn(one, one.leaseMs)
    const answer = this.#granted(this.#reading(one.id))
    if (served === 'own') this.#serveShared('')
    return answer
  }

  #refuse(one: Attempt, waits: boolean, more: boolean): unknown[] {
    const ends = this.#isHeld && this.#holder ? [this.#holder] : this.#live
    const recheckMs = this.#isFree ? CLAIM_MS : Math.max(...ends.map(({ endsMs }) => endsMs)) - this.#nowMs
    if (!waits) return ['held', recheckMs, more]
    if (!this.#line.some(({ id }) => id === one.id)) this.#line.push({ ...one, looks: 0, lookedS: 0 })
    const place = this.#line.findIndex(({ id }) => id === one.id)
    const [front] = this.#line
    if (place === 0 && front) front.looks = 0
    const soon = this.#isCalled && one.kind !== 's' ? Math.min(recheckMs, CLAIM_MS) : recheckMs
    const first = place === 0 ? soon : 0
    return ['queued', place, one.kind === 'b' ? Math.min(soon, CHANCE_MS) : first, more, this.#nowMs]
  }

  /** A called waiter retries as long as others only pass by. */
  #tryAgain(one: Attempt, more: boolean): unknown[] {
    this.#called = { id: one.id, untilMs: this.#nowMs + CLAIM_MS }
    return ['queued', 0, TRY_AGAIN_MS, more, this.#nowMs]
  }

  get #passesBy(): boolean {
    return this.#isFree || Math.abs(this.#nowMs - this.#token / 1000) <= PASSING_MS
  }

  /** Another keeps the lock: it waits in its place. */
  #standAgain(one: Attempt): void {
    this.#called = null
    this.#line.unshift({ ...one, looks: 0, lookedS: 0 })
  }

  /** As one who wants the lock alone does: readers are left to `serve`. */
  #serve(own: string): 'own' | 'empty' | 'more' | 'served' {
    this.#missOverdue()
    for (let first = this.#line[0]; first !== undefined; first = this.#line[0]) {
      if (first.id === own) return 'own'
      if (first.kind === 's') return 'more'
      if (first.kind === 'b' && this.#isCalled) return 'served'
      this.#line.shift()
      if (first.dead) continue
      if (first.kind === 'x') this.#grant(first, Math.min(first.leaseMs, CLAIM_MS))
      else this.#called = { id: first.id, untilMs: this.#nowMs + CLAIM_MS }
      this.#callFirst()
      return 'served'
    }
    return 'empty'
  }

  #serveShared(own: string): 'own' | 'empty' | 'served' {
    this.#missOverdue()
    for (let first = this.#line[0]; first !== undefined; first = this.#line[0]) {
      const fits = this.#isFree || first.kind === 's'
      if (first.kind !== 'x' && this.#isFree && this.#isCalled) return 'served'
      if (first.id === own && fits) return 'own'
      if (!fits && !first.dead && !this.#isSilent(first, own)) return 'served'
      this.#line.shift()
      if (first.dead || !fits) continue
      if (first.kind === 's') {
        this.#letIn(first, Math.min(first.leaseMs, CLAIM_MS))
        continue
      }
      if (first.kind === 'x') this.#grant(first, Math.min(first.leaseMs, CLAIM_MS))
      else this.#called = { id: first.id, untilMs: this.#nowMs + CLAIM_MS }
      this.#callFirst()
      return 'served'
    }
    return 'empty'
  }

  /** Another one looks at the first in line. */
  #isSilent(first: Waiter, own: string): boolean {
    if (own === '') return false
    const nowS = Math.floor(this.#nowMs / 1000)
    if (first.looks > 0 && nowS - first.lookedS < SILENT_S) return false
    if (first.looks === 2) return true
    first.looks += 1
    first.lookedS = nowS
    return false
  }

  /** A waiter that is found dead when it is notified that it is first has left the line. */
  #callFirst(): void {
    while (this.#line[0]?.dead) this.#line.shift()
  }

  /** A called waiter that does not come in time loses its call: its process has no other waiter in line here. */
  #missOverdue(): void {
    if (!this.#isCalled) this.#called = null
  }

  get #isCalled(): boolean {
    return this.#called !== null && this.#called.untilMs > this.#nowMs
  }

  #come(id: string): void {
    if (this.#called?.id === id) this.#called = null
  }

  #leaveLine(id: string): boolean {
    const before = this.#line.length
    this.#line = this.#line.filter((one) => one.id !== id)
    return this.#line.length < before
  }

  #grant({ id }: Attempt, leaseMs: number): void {
    this.#token = Math.max(this.#token + 1, this.nowUs)
    this.#holder = { id, token: this.#token, endsMs: this.#nowMs + leaseMs }
    this.#givenBack = false
    this.#untouched = false
    this.#readers = []
  }

  #letIn({ id }: Attempt, leaseMs: number): void {
    this.#token = Math.max(this.#token + 1, this.nowUs)
    this.#readers.push({ id, token: this.#token, endsMs: this.#nowMs + leaseMs })
    this.#holder = null
    this.#untouched = false
  }

  #granted(lease: Lease | null | undefined): unknown[] {
    return ['granted', lease?.token, lease?.endsMs, this.#nowMs]
  }
}
