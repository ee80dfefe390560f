// A key of a once in plain memory: the expected answers of `lua/once`.

export const LEASE_MS = 1000
export const KEEP_MS = 5000

export class OnceModel {
  nowUs: number
  #token = 0
  #id: string | null = null
  #fingerprint = ''
  #endsAtMs = 0
  #keptUntilMs = 0
  #phase: 'free' | 'open' | 'finished' = 'free'
  #result = ''

  constructor(nowUs: number) {
    this.nowUs = nowUs
  }

  begin(id: string, fingerprint: string): readonly unknown[] {
    if (this.#counts && this.#fingerprint !== fingerprint) return ['conflict']
    if (this.#counts && this.#phase === 'finished') return ['replayed', this.#token, this.#result]
    if (this.#counts && this.#phase === 'open' && this.#endsAtMs > this.#nowMs) {
      if (this.#id !== id) return ['running', this.#endsAtMs - this.#nowMs]
      return ['started', this.#token, this.#endsAtMs, this.#nowMs]
    }
    if (this.#phase === 'free' && this.#id === id) return ['lost', this.#token]
    this.#token = Math.max(this.#token + 1, this.nowUs)
    this.#endsAtMs = this.#nowMs + LEASE_MS
    this.#keptUntilMs = this.#endsAtMs + KEEP_MS
    this.#id = id
    this.#fingerprint = fingerprint
    this.#phase = 'open'
    return ['started', this.#token, this.#endsAtMs, this.#nowMs]
  }

  complete(token: number, result: string): readonly unknown[] {
    const isOpen = this.#phase === 'open'
    if (token !== this.#token || !(isOpen || this.#counts)) return ['lost']
    if (isOpen) {
      this.#phase = 'finished'
      this.#result = result
      this.#keptUntilMs = this.#nowMs + KEEP_MS
    }
    return ['completed', this.#keptUntilMs]
  }

  extend(token: number): readonly unknown[] {
    const held = token === this.#token && this.#phase === 'open' && this.#endsAtMs > this.#nowMs
    if (!held) return ['extended', this.#nowMs, [0], []]
    this.#endsAtMs = this.#nowMs + LEASE_MS
    this.#keptUntilMs = this.#endsAtMs + KEEP_MS
    return ['extended', this.#nowMs, [this.#endsAtMs], []]
  }

  release(token: number): readonly unknown[] {
    if (token !== this.#token || this.#token === 0) return ['lost']
    if (this.#phase === 'finished') return ['completed']
    this.#phase = 'free'
    return ['released']
  }

  abandon(id: string, token: number): readonly unknown[] {
    if (this.#phase === 'open' && this.#id === id && this.#token !== token) this.#phase = 'free'
    return ['abandoned']
  }

  get(): readonly unknown[] {
    return this.#counts && this.#phase === 'finished'
      ? ['found', this.#token, this.#keptUntilMs, this.#result]
      : ['absent']
  }

  inspect(): readonly unknown[] {
    if (!this.#counts) return ['inspection', 'free', this.#token, '', 0, 0, 0, '', this.#nowMs]
    const open = this.#endsAtMs > this.#nowMs ? 'running' : 'lapsed'
    const finished = this.#phase === 'finished'
    return [
      'inspection',
      finished ? 'finished' : open,
      this.#token,
      this.#fingerprint,
      this.#endsAtMs,
      this.#keptUntilMs,
      finished ? this.#result.length : 0,
      'json',
      this.#nowMs,
    ]
  }

  clear(): readonly unknown[] {
    const existed = this.#token > 0
    // When the clock has stepped back by more than a moment, tokens continue from there.
    const isBehind = Math.ceil(this.#token / 1000) - this.#nowMs >= 10
    this.#token = isBehind ? this.#token + 1 : 0
    this.#id = null
    this.#phase = 'free'
    return ['cleared', existed]
  }

  get #nowMs(): number {
    return Math.floor(this.nowUs / 1000)
  }

  /** True while the key is taken. An expired attempt stays expired, unless the clock steps back. */
  get #counts(): boolean {
    return this.#phase !== 'free' && this.#keptUntilMs > this.#nowMs
  }
}
