// A collection in plain memory: the expected answers of `lua/collection`. Lists and sorted sets, whose order is known.

export const EXPIRE_MS = 5000

export interface Sent {
  readonly version: number
  /** The items, each a value; those of a sorted set with their scores. */
  readonly items: readonly (readonly [score: number, value: string])[]
}

type Answer = readonly unknown[]

interface Stored {
  version: number
  copy: number
  first: number
  expiresAtMs: number
  items: (readonly [score: number, value: string])[]
}

export class CollectionModel {
  nowUs: number
  readonly #ranked: boolean
  #copy = 0
  #stored: Stored | null = null
  #known = false
  readonly #builds = new Map<string, Sent['items'][number][]>()

  constructor(nowUs: number, ranked: boolean) {
    this.nowUs = nowUs
    this.#ranked = ranked
  }

  replace({ version, items }: Sent): Answer {
    return this.#outdated(version) ?? this.#store(version, this.#merged([], items))
  }

  build({ version, items }: Sent, id: string, before: number): Answer {
    const outdated = this.#outdated(version)
    if (outdated !== null) return outdated
    const built = this.#builds.get(id) ?? []
    if (built.length === before) this.#builds.set(id, this.#merged(built, items))
    const size = this.#builds.get(id)?.length ?? 0
    if (size === 0) this.#builds.delete(id)
    return size === before + items.length ? ['built', size] : ['lost']
  }

  switchIn(version: number, id: string, size: number): Answer {
    const outdated = this.#outdated(version)
    const built = this.#builds.get(id)
    if (outdated !== null) {
      this.#builds.delete(id)
      return outdated
    }
    if (built === undefined || built.length !== size) return ['lost']
    this.#builds.delete(id)
    return this.#store(version, built)
  }

  add({ items }: Sent, limit: number): Answer {
    const stored = this.#live
    if (stored === null) return ['absent']
    const before = stored.items.length
    stored.items = this.#merged(stored.items, items)
    const added = stored.items.length - before
    const removed = limit === 0 ? 0 : Math.max(0, stored.items.length - limit)
    stored.items.splice(0, removed)
    stored.first += removed
    return ['added', stored.items.length, added, removed]
  }

  remove(values: readonly string[]): Answer {
    const stored = this.#live
    if (stored === null) return ['absent']
    const before = stored.items.length
    stored.items = stored.items.filter(([, value]) => !values.includes(value))
    return ['removed', stored.items.length, before - stored.items.length]
  }

  read(copy: number, place: number, limit: number): Answer {
    const stored = this.#live
    if (stored === null) return ['absent']
    if (copy !== 0 && copy !== stored.copy) return ['replaced', stored.copy, stored.version]
    const { items, version, expiresAtMs } = stored
    const first = this.#ranked ? 0 : stored.first
    const from = Math.min(Math.max(place - first, 0), items.length)
    const page = items.slice(from, from + limit)
    const to = from + page.length
    const parts = page.flatMap(([score, value]) => (this.#ranked ? [value, String(score)] : [value]))
    const gap = !this.#ranked && copy !== 0 && place < first
    const more = to < items.length
    return ['page', stored.copy, version, expiresAtMs, items.length, String(first + to), more, gap, parts]
  }

  clear(): Answer {
    const existed = this.#known
    this.#known = false
    this.#stored = null
    this.#copy = 0
    return ['cleared', existed]
  }

  /** The server drops the items, as by eviction; an empty collection has none to drop. */
  evict(): void {
    if (this.#stored !== null && this.#stored.items.length > 0) this.#stored = null
  }

  get #nowMs(): number {
    return Math.floor(this.nowUs / 1000)
  }

  get #live(): Stored | null {
    return this.#stored !== null && this.#stored.expiresAtMs > this.#nowMs ? this.#stored : null
  }

  #outdated(version: number): Answer | null {
    const stored = this.#live
    if (stored === null || version < 0 || stored.version < version) return null
    if (stored.version > version) return ['refused', stored.version]
    return ['unchanged', stored.copy, stored.expiresAtMs]
  }

  #store(version: number, items: Stored['items']): Answer {
    this.#copy = Math.max(this.#copy + 1, this.nowUs)
    const expiresAtMs = this.#nowMs + EXPIRE_MS
    this.#stored = { version, copy: this.#copy, first: 0, expiresAtMs, items }
    this.#known = true
    return ['replaced', this.#copy, expiresAtMs]
  }

  #merged(before: Stored['items'], items: Sent['items']): Stored['items'] {
    if (!this.#ranked) return [...before, ...items]
    const scores = new Map([...before, ...items].map(([score, value]) => [value, score]))
    const all = [...scores].map(([value, score]) => [score, value] as const)
    return all.toSorted((a, b) => a[0] - b[0] || (a[1] < b[1] ? -1 : 1))
  }
}
