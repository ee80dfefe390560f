import { Redis } from 'ioredis'
import type { Feed, Perilune } from '../../src/index.ts'
import { builtLibrary } from '../harness/built.ts'
import { LIFE_S, type Poster } from './poster.ts'

/** The library, with a deadline that no bench reaches. */
export async function openLibrary(client: Redis): Promise<Perilune> {
  const { perilune, ioredis } = await builtLibrary()
  return perilune(ioredis(client), { deadline: '60s' })
}

export class PerilunePoster implements Poster {
  readonly retries = 0
  readonly #client: Redis
  readonly #library: Perilune
  readonly #feed: Feed<string>

  private constructor(client: Redis, library: Perilune, feed: Feed<string>) {
    this.#client = client
    this.#library = library
    this.#feed = feed
  }

  static async open(port: number): Promise<PerilunePoster> {
    const client = new Redis(port)
    const { text } = await builtLibrary()
    const library = await openLibrary(client)
    return new PerilunePoster(
      client,
      library,
      library.feed('story', { codec: text, ttl: `${LIFE_S}s`, origin: 'bench' }),
    )
  }

  post(bodies: readonly string[]): Promise<unknown> {
    const [body] = bodies
    if (bodies.length === 1 && body !== undefined) return this.#feed.append(body)
    return this.#feed.appendMany(bodies.map((one) => ({ body: one })))
  }

  async close(): Promise<void> {
    await this.#library.close()
    this.#client.disconnect()
  }
}
