import type { Bench, CompareOptions, Measured, Variant } from '../harness/bench.ts'
import type { Steps } from '../harness/round.ts'
import { type Ack, type Feed, type Log, PAGE } from './contender.ts'
import { bodies, type Filled } from './fill.ts'

/** Microseconds inside the server for one call: `page, Stream` → 31.5 */
export type Costs = Record<string, number>

// Together at most 800 messages: even the smallest feed has enough, and is full again after the round.
const CLAIMS: CompareOptions = { rounds: 25, perRound: 40 }

export async function measureCosts(
  bench: Bench,
  feeds: Record<string, Feed>,
  filled: readonly Filled[],
  size: number,
): Promise<Costs> {
  const compare = async (what: string, variants: Record<string, Variant>, options?: CompareOptions) =>
    named(what, await bench.compare(`${what}, ${size} messages`, variants, options))
  return {
    ...(await compare(
      `page of ${PAGE}`,
      each(
        filled,
        ({ log, markers }) =>
          () =>
            readPage(log, markers),
      ),
    )),
    ...(await compare(`claim of ${PAGE}`, perFeed(feeds, claiming), CLAIMS)),
    ...(await compare(`ack of ${PAGE}`, perFeed(feeds, acking), CLAIMS)),
    ...(await compare(
      'append of one',
      each(
        filled,
        ({ log }) =>
          () =>
            log.append(bodies(1)),
      ),
    )),
    ...(await compare(
      'append of one, 100 in flight',
      each(
        filled,
        ({ log }) =>
          () =>
            log.append(bodies(1)),
      ),
      {
        perRound: 1000,
        inFlight: 100,
      },
    )),
  }
}

/** Reads after a random marker. Throws when the page is not full: then the cost would mean nothing. */
export async function readPage(log: Log, markers: readonly string[]): Promise<void> {
  const marker = markers[Math.floor(Math.random() * markers.length)] ?? ''
  const count = await log.page(marker)
  if (count !== PAGE) throw new Error(`a page after ${marker} held ${count} messages`)
}

function claiming(feed: Feed): Steps {
  let acks: Ack[] = []
  return {
    call: async () => acks.push(await feed.claim()),
    after: async () => {
      await Promise.all(acks.map((ack) => ack()))
      await refill(feed, acks.length)
      acks = []
    },
  }
}

function acking(feed: Feed): Steps {
  let acks: Ack[] = []
  let done = 0
  return {
    before: async (calls) => {
      acks = await Promise.all(Array.from({ length: calls }, () => feed.claim()))
    },
    call: async () => acks[done++]?.(),
    after: async () => {
      await Promise.all(acks.slice(done).map((ack) => ack()))
      await refill(feed, acks.length)
      done = 0
    },
  }
}

async function refill(feed: Feed, claims: number): Promise<void> {
  await feed.append(bodies(claims * PAGE))
}

function perFeed(feeds: Record<string, Feed>, steps: (feed: Feed) => Steps): Record<string, Variant> {
  return Object.fromEntries(Object.entries(feeds).map(([name, feed]) => [name, steps(feed)]))
}

function each(filled: readonly Filled[], variant: (one: Filled) => Variant): Record<string, Variant> {
  return Object.fromEntries(filled.map((one) => [one.name, variant(one)]))
}

function named(what: string, measured: ReadonlyMap<string, Measured>): Costs {
  return Object.fromEntries([...measured].map(([name, { serverUs }]) => [`${what}, ${name}`, serverUs]))
}
