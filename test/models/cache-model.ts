// A key of a cache in plain memory: the expected answers of `lua/cache`.

export const LEASE_MS = 1000
export const FRESH_MS = 3000
export const STALE_MS = 2000
export const REST_MS = 500

interface Stored {
  readonly token: number
  readonly version: number
  readonly tags: string
  /** Levels may hold it. */
  held: boolean
  readonly freshUntilMs: number
  readonly staleUntilMs: number
}

/** The arguments of `store` and `set`. */
interface Given {
  readonly version: number
  readonly tags: string
  readonly held: boolean
}

interface Run {
  readonly id: string
  readonly token: number
  endsAtMs: number
  revoked: boolean
}

export class CacheModel {
  nowUs: number
  /** Notifications to L1s about the value, and about the invalidated tag: numbers, in order. */
  readonly announced: { of: 'value' | 'generation'; number: number }[] = []
  #value: Stored | null = null
  #run: Run | null = null
  #ended: { id: string; revoked: boolean } | null = null
  #failed: { token: number; restsUntilMs: number } | null = null
  #token = 0
  #version = 0
  #generation = 0

  constructor(nowUs: number) {
    this.nowUs = nowUs
  }

  elect(id: string, seen: number, waited: number, tags: string): readonly unknown[] {
    const served = this.#value !== null && this.#value.staleUntilMs > this.#nowMs && this.#value.tags === tags
    if (served && this.#value?.token !== seen) return ['found', this.#nowMs]
    if (this.#run !== null && this.#run.endsAtMs > this.#nowMs) {
      if (this.#run.id === id) return ['elected', this.#run.token, this.#run.endsAtMs, this.#nowMs]
      return ['loading', this.#run.token, this.#run.endsAtMs - this.#nowMs, this.#nowMs]
    }
    if (waited > 0 && this.#failed?.token === waited) return ['failed', this.#nowMs, 'reason']
    if (served && this.#failed !== null && this.#failed.restsUntilMs > this.#nowMs) {
      return ['resting', this.#failed.restsUntilMs - this.#nowMs, this.#nowMs]
    }
    this.#token = Math.max(this.#token + 1, this.nowUs)
    this.#run = { id, token: this.#token, endsAtMs: this.#nowMs + LEASE_MS, revoked: false }
    this.#failed = null
    this.#ended = null
    return ['elected', this.#token, this.#run.endsAtMs, this.#nowMs]
  }

  store(token: number, given: Given): readonly unknown[] {
    const run = this.#run
    if (run === null && this.#value?.token === token) return this.#stored(this.#value)
    if (run?.token !== token) return ['lost']
    this.#run = null
    if (run.revoked) return ['revoked']
    if (given.version > 0 && given.version < this.#version) return ['superseded', this.#version]
    this.#failed = null
    return this.#stored(this.#keep(token, given))
  }

  set(given: Given): readonly unknown[] {
    if (given.version > 0 && given.version <= this.#version) return ['superseded', this.#version]
    this.#token = Math.max(this.#token + 1, this.nowUs)
    this.#revoke()
    return this.#stored(this.#keep(this.#token, given))
  }

  fail(id: string): readonly unknown[] {
    if (this.#run?.id === id) {
      const { token, revoked } = this.#run
      if (!revoked) this.#failed = { token, restsUntilMs: this.#nowMs + REST_MS }
      this.#ended = { id, revoked }
      this.#run = null
    }
    if (this.#ended?.id !== id) return ['lost']
    return this.#ended.revoked ? ['revoked'] : ['failed']
  }

  hold(token: number): readonly unknown[] {
    if (this.#value === null || this.#value.token !== token) return ['absent']
    this.#value.held = true
    return ['held']
  }

  invalidateTag(): readonly unknown[] {
    this.#generation = Math.max(this.#generation + 1, this.nowUs)
    this.announced.push({ of: 'generation', number: this.#generation })
    return ['invalidated', this.#generation]
  }

  invalidate(): readonly unknown[] {
    const existed = this.#value !== null && this.#value.staleUntilMs > this.#nowMs
    this.#end(this.#token + 1)
    this.#value = null
    this.#revoke()
    return ['invalidated', existed]
  }

  extend(token: number): readonly unknown[] {
    const run = this.#run
    const held = run?.token === token && run.endsAtMs > this.#nowMs && !run.revoked
    if (!held) return ['extended', this.#nowMs, [0], []]
    run.endsAtMs = this.#nowMs + LEASE_MS
    return ['extended', this.#nowMs, [run.endsAtMs], []]
  }

  /** Token, version, and those of the load under way. */
  inspect(): readonly unknown[] {
    const there = this.#value !== null && this.#value.staleUntilMs > this.#nowMs
    const open = this.#run !== null && this.#run.endsAtMs > this.#nowMs
    const state = (this.#value?.freshUntilMs ?? 0) > this.#nowMs ? 'fresh' : 'stale'
    return [
      there ? state : 'absent',
      there ? this.#value?.token : 0,
      this.#version,
      open ? this.#run?.token : 0,
      open ? this.#run?.endsAtMs : 0,
    ]
  }

  #keep(token: number, { version, tags, held }: Given): Stored {
    this.#end(token)
    this.#version = Math.max(this.#version, version)
    const freshUntilMs = this.#nowMs + FRESH_MS
    const staleUntilMs = freshUntilMs + STALE_MS
    this.#value = { token, version: this.#version, tags, held, freshUntilMs, staleUntilMs }
    return this.#value
  }

  /** Holders of the stored value learn that it is no longer valid. */
  #end(number: number): void {
    if (this.#value?.held) this.announced.push({ of: 'value', number })
  }

  #revoke(): void {
    if (this.#run === null) {
      this.#failed = null
      this.#ended = null
    } else this.#run.revoked = true
  }

  #stored({ freshUntilMs, staleUntilMs }: Stored): readonly unknown[] {
    return ['stored', freshUntilMs, staleUntilMs, this.#nowMs]
  }

  get #nowMs(): number {
    return Math.floor(this.nowUs / 1000)
  }
}
