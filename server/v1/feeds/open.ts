import type { FastifyRequest } from 'fastify'
import type { Routes } from '../api/routes.ts'
import type { Feed, FeedOptions, Perilune } from 'perilune'
import { storedJson, storedJsonBytes, uncheckedJson } from '../../json/stored.ts'
import { nameOf } from '../../http/requests/tenant.ts'

export type FeedRoutes = Routes

/** Opens the feeds of requests. */
export class Feeds {
  readonly #perilune: Perilune

  constructor(perilune: Perilune) {
    this.#perilune = perilune
  }

  open(
    request: FastifyRequest,
    name: string,
    options: Omit<FeedOptions<string>, 'codec'> = {},
  ): Feed<string> {
    return this.#perilune.feed(nameOf(request, name), { ...options, codec: storedJson })
  }

  /** For large answers: bodies as they are stored. */
  openBytes(
    request: FastifyRequest,
    name: string,
    options: Omit<FeedOptions<Buffer>, 'codec'> = {},
  ): Feed<Buffer> {
    return this.#perilune.feed(nameOf(request, name), { ...options, codec: storedJsonBytes })
  }

  /** For answers whose bodies are checked afterwards. */
  openUnchecked(request: FastifyRequest, name: string): Feed<Buffer> {
    return this.#perilune.feed(nameOf(request, name), { codec: uncheckedJson })
  }
}
