import type { FastifyRequest } from 'fastify'
import { type Feed, type FeedOptions, jsonText, type Perilune } from 'perilune'
import { nameOf } from './place.ts'

/** Opens the feeds that requests name. */
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
    return this.#perilune.feed(nameOf(request, name), { ...options, codec: jsonText })
  }
}
