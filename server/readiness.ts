// Whether the service can serve: Redis answers within a second and holds the scripts.

import type { Redis } from 'ioredis'
import { DriverError, type Perilune } from 'perilune'

const PATIENCE_MS = 1000

const LOADING = 'the scripts are not loaded yet'
const FORBIDDEN = 'this user of Redis lacks a right that the scripts need; docs/compatibility.md names them'

export class Readiness {
  readonly #client: Redis
  readonly #perilune: Perilune
  #loaded: Promise<void> | null = null
  #obstacle = LOADING

  constructor(client: Redis, perilune: Perilune) {
    this.#client = client
    this.#perilune = perilune
    // A server that went away may come back without the scripts.
    client.on('close', () => (this.#loaded = null))
  }

  /** Null when ready, else the reason why not. Becomes ready by itself once Redis is back. */
  async reason(): Promise<string | null> {
    if (!(await this.answers())) return 'Redis does not answer within a second'
    return (await inTime(this.#load())) ? null : this.#obstacle
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
