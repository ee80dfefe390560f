// Whether the service can serve: Redis answers within a second and holds the scripts, and what else it needs was there
// once.

import type { Redis } from 'ioredis'
import { DriverError, type Perilune } from 'perilune'

const PATIENCE_MS = 1000

const LOADING = 'the scripts are not loaded yet'
const FORBIDDEN = 'this user of Redis lacks a right that the scripts need; docs/compatibility.md names them'

/** What must have been there once. */
export interface Need {
  /** Rejects while it is not there; asked again and again. */
  prepare(): Promise<void>
  /** Why it is not there, for anybody to read; without an error it took too long. */
  obstacle(error: unknown): string
}

export class Readiness {
  readonly #client: Redis
  readonly #perilune: Perilune
  readonly #needs: readonly Need[]
  #loaded: Promise<void> | null = null
  #obstacle = LOADING

  constructor(client: Redis, perilune: Perilune, needs: readonly Need[] = []) {
    this.#client = client
    this.#perilune = perilune
    this.#needs = needs
    // A server that went away may come back without the scripts.
    client.on('close', () => (this.#loaded = null))
  }

  /** Null when ready, else the reason why not. Becomes ready by itself once Redis is back. */
  async reason(): Promise<string | null> {
    if (!(await this.answers())) return 'Redis does not answer within a second'
    if (!(await inTime(this.#load()))) return this.#obstacle
    const obstacles = await Promise.all(this.#needs.map(obstacleTo))
    return obstacles.find((obstacle) => obstacle !== null) ?? null
  }

  /** Whether Redis answers within a second. */
  answers(): Promise<boolean> {
    return inTime(this.#client.ping())
  }

  #load(): Promise<void> {
    const loading = (this.#loaded ??= this.#perilune.preload())
    loading.catch((error: unknown) => {
      if (this.#loaded === loading) this.#loaded = null
      const forbidden = error instanceof DriverError && error.code === 'forbidden'
      this.#obstacle = forbidden ? FORBIDDEN : LOADING
    })
    return loading
  }
}

async function obstacleTo(need: Need): Promise<string | null> {
  let reason: unknown
  const prepared = need.prepare().catch((error: unknown) => {
    reason = error
    throw error
  })
  return (await inTime(prepared)) ? null : need.obstacle(reason)
}

async function inTime(work: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const tooLate = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), PATIENCE_MS)
  })
  const done = work.then(
    () => true,
    () => false,
  )
  try {
    return await Promise.race([done, tooLate])
  } finally {
    clearTimeout(timer)
  }
}
