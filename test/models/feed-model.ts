// A feed without Redis: plain lists, every rule once. Answers are patterns of the script's.

export interface NewMessage {
  body: string
  ttl_ms: number
  delay_ms: number
  key: string
}

interface Message {
  readonly id: number
  position: number // 0 until it is visible
  readonly visibleAtUs: number
  expiresAtMs: number // Infinity when it stays
  readonly body: string
  claims: number
  holder: number // token of the claim, live or not
}

export const LEASE_MS = 5000
export const REMEMBER_MS = 4000
export const MAX_CLAIMS = 3

export class FeedModel {
  nowUs: number
  #epoch = 0
  #last = 0
  #token = 0
  /** Until when each dead letter lives. The next dead letter removes the expired ones. */
  #dead: number[] = []
  #messages: Message[] = []
  readonly #leases = new Map<number, number>()
  readonly #keys = new Map<string, { id: number; untilMs: number }>()

  constructor(nowUs: number) {
    this.nowUs = nowUs
  }

  append(messages: readonly NewMessage[]): unknown[] {
    const created = this.#epoch === 0
    if (created) this.#epoch = this.nowUs
    this.#showDue()
    const first = Math.max(this.#last + 1, this.nowUs)
    const duplicates: [at: number, id: number][] = []
    for (const [at, message] of messages.entries()) {
      const known = this.#keys.get(message.key)
      if (known !== undefined && known.untilMs > this.#nowMs) duplicates.push([at, known.id])
      else this.#add(first + at, this.nowUs + at, message)
    }
    this.#last = first + messages.length - 1
    return ['appended', this.#epoch, first, created, duplicates]
  }

  /** The messages of a page and the claims on them; its other parts are the player's to judge. */
  read(after: number, limit: number, includeClaimed: boolean): [unknown[], unknown[]] {
    const shown = this.#visible().filter(
      (message) => message.position > after && (includeClaimed || !this.#isHeld(message)),
    )
    return this.#tell(shown.slice(0, limit))
  }

  get(ids: readonly number[]): unknown[] {
    const found = ids.flatMap((id) => this.#messages.filter((message) => message.id === id))
    const alive = found.filter((message) => this.#isAlive(message))
    return ['found', this.#epoch, this.#nowMs, ids.length, ...this.#tell(alive)]
  }

  /** Messages as a reader meets them, and which of them a live claim holds. */
  #tell(messages: readonly Message[]): [unknown[], unknown[]] {
    const held = messages.filter((message) => this.#isHeld(message))
    return [messages.map(rowOf), held.map(({ position, holder }) => [position, holder])]
  }

  claim(limit: number, graceMs: number): unknown[] {
    this.#lapse()
    this.#showDue()
    const taken: Message[] = []
    const dying: Message[] = []
    for (const message of this.#visible().filter(({ holder }) => holder === 0)) {
      if (taken.length === limit) break
      if (message.claims < MAX_CLAIMS) taken.push(message)
      else dying.push(message)
    }
    const dead = this.#remove(dying)
    if (dead > 0) {
      this.#dead.push(...dying.map(({ expiresAtMs }) => expiresAtMs))
      this.#dead = this.#dead.filter((untilMs) => untilMs > this.#nowMs)
    }
    if (taken.length === 0) return ['empty', dead, '*']
    this.#token = Math.max(this.#token + 1, this.nowUs)
    for (const message of taken) {
      message.claims += 1
      message.holder = this.#token
    }
    const endsAtMs = this.#lease(this.#token, graceMs)
    return ['claimed', this.#epoch, this.#token, endsAtMs, this.#nowMs, dead, taken.map(rowOf)]
  }

  extend(token: number, graceMs: number): unknown[] {
    return this.#isLive(token) ? ['extended', this.#lease(token, graceMs)] : ['lost']
  }

  release(token: number, ids: readonly number[]): unknown[] {
    if (!this.#isLive(token)) return ['lost']
    const going = this.#heldBy(token).filter(({ id }) => ids.length === 0 || ids.includes(id))
    for (const message of going) message.holder = 0
    if (this.#heldBy(token).length === 0) this.#leases.delete(token)
    return ['released', going.length]
  }

  ack(token: number, ids: readonly number[]): unknown[] {
    if (!this.#isLive(token)) return ['lost']
    const refused = ids.filter((id) => this.#find(id)?.holder !== token)
    const reasons = refused.map((id) => [id, this.#whyNot(this.#find(id))])
    const done = this.#remove(this.#heldBy(token).filter(({ id }) => ids.length === 0 || ids.includes(id)))
    if (done > 0 && this.#heldBy(token).length === 0) this.#leases.delete(token)
    return ['acked', done, reasons]
  }

  remove(ids: readonly number[], evenClaimed: boolean): unknown[] {
    const found = ids.flatMap((id) => this.#find(id) ?? [])
    const held = evenClaimed ? [] : found.filter((message) => this.#isHeld(message))
    return ['removed', this.#remove(found.filter((one) => !held.includes(one))), held.map(({ id }) => id)]
  }

  settle(): unknown[] {
    this.#showDue()
    this.#lapse()
    this.#messages = this.#messages.filter((message) => message.position === 0 || this.#isAlive(message))
    return ['settled', false]
  }

  /** After `settle`. */
  inspect(): unknown[] {
    const visible = this.#visible()
    const total = this.#messages.length
    const bytes = visible.reduce((sum, { body }) => sum + body.length, 0)
    const claimed = visible.filter(({ holder }) => holder !== 0).length
    const counts = [total, claimed, total - visible.length, bytes, this.#dead.length, this.#leases.size, 0]
    // Only the feed itself was settled before.
    const isDue = this.#dead.some((untilMs) => untilMs <= this.#nowMs)
    return ['inspection', this.#epoch, '*', this.#nowMs, isDue, ...counts, 'json', '*', []]
  }

  get #nowMs(): number {
    return Math.floor(this.nowUs / 1000)
  }

  #add(id: number, nowUs: number, { body, ttl_ms, delay_ms, key }: NewMessage): void {
    const expiresAtMs = ttl_ms === 0 ? Infinity : Math.floor(id / 1000) + ttl_ms
    const position = delay_ms === 0 ? id : 0
    const visibleAtUs = nowUs + delay_ms * 1000
    this.#messages.push({ id, position, visibleAtUs, expiresAtMs, body, claims: 0, holder: 0 })
    if (key !== '') this.#keys.set(key, { id, untilMs: this.#nowMs + REMEMBER_MS })
  }

  #showDue(): void {
    const due = this.#messages.filter((one) => one.position === 0 && one.visibleAtUs <= this.nowUs)
    this.#remove(due.filter((message) => !this.#isAlive(message)))
    for (const message of due.toSorted((a, b) => a.visibleAtUs - b.visibleAtUs || a.id - b.id)) {
      if (!this.#isAlive(message)) continue
      this.#last = Math.max(this.#last, this.nowUs - 1) + 1
      message.position = this.#last
    }
  }

  #lapse(): void {
    for (const token of this.#leases.keys()) if (!this.#isLive(token)) this.#leases.delete(token)
    for (const message of this.#messages) if (!this.#leases.has(message.holder)) message.holder = 0
  }

  #lease(token: number, graceMs: number): number {
    const endsAtMs = this.#nowMs + LEASE_MS
    this.#leases.set(token, endsAtMs)
    for (const message of this.#heldBy(token))
      message.expiresAtMs = Math.max(message.expiresAtMs, endsAtMs + graceMs)
    return endsAtMs
  }

  #remove(going: readonly Message[]): number {
    this.#messages = this.#messages.filter((message) => !going.includes(message))
    return going.length
  }

  #visible(): Message[] {
    const visible = this.#messages.filter((message) => message.position > 0 && this.#isAlive(message))
    return visible.toSorted((a, b) => a.position - b.position)
  }

  #find(id: number): Message | undefined {
    return this.#messages.find((message) => message.id === id)
  }

  #heldBy(token: number): Message[] {
    return this.#messages.filter(({ holder }) => holder === token)
  }

  #whyNot(message: Message | undefined): string {
    if (message === undefined) return 'absent'
    return this.#isHeld(message) ? 'held' : 'unclaimed'
  }

  #isHeld({ holder }: Message): boolean {
    return this.#isLive(holder)
  }

  #isLive(token: number): boolean {
    return (this.#leases.get(token) ?? 0) > this.#nowMs
  }

  #isAlive({ expiresAtMs }: Message): boolean {
    return expiresAtMs > this.#nowMs
  }
}

function rowOf({ position, id, expiresAtMs, claims, body }: Message): unknown[] {
  return [position, id, expiresAtMs === Infinity ? 0 : expiresAtMs, claims, body]
}
