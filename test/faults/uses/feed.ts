import { type Claim, jsonText } from 'perilune'
import { feedWorks } from './feed-works.ts'
import { spreadFeedSteps } from './spread.ts'
import { type Place, reaches, type Step, type Use } from './use.ts'

type Bodies = readonly { body: number }[]

const bodiesOf = (messages: Bodies = []): number[] => messages.map(({ body }) => body)

function steps(place: Place): readonly Step[] {
  return [...contentSteps(place), ...claimSteps(place), ...subscriberSteps(place), ...spreadFeedSteps(place)]
}

/** Messages that come and go: with keys, delayed, in batches, until nothing is left. */
function contentSteps({ redis, name }: Place): readonly Step[] {
  const feed = redis.feed<number>(name, { origin: 'me' })
  const mixed = [
    { body: 1, idempotencyKey: 'k' },
    { body: 2, ttl: '2h' },
    { body: 3, delay: '1h' },
  ] as const
  const hear = async (): Promise<number[]> => {
    const { next } = await feed.read({ limit: 100 })
    const waiting = feed.read({ after: next, wait: '20s' })
    waiting.catch(() => undefined)
    await feed.append(8)
    return bodiesOf((await waiting).messages)
  }
  const idsOf = async (bodies: number[]): Promise<string[]> => {
    const { messages } = await feed.read({ limit: 100 })
    return messages.filter(({ body }) => bodies.includes(body)).map(({ id }) => id)
  }
  return [
    ['append', 'refuses', async () => (await feed.appendMany(mixed)).map(({ duplicate }) => duplicate)],
    ['append', 'refuses', async () => (await feed.append(1, { idempotencyKey: 'k' })).duplicate],
    ['append', 'refuses', async () => void (await feed.append(4, { delay: '1ms' }))],
    ['settle', 'unasked', () => reaches(async () => (await feed.inspect()).delayed === 1)],
    ['append-alike', 'refuses', async () => void (await feed.appendMany([{ body: 5 }, { body: 6 }]))],
    ['append-alike', 'refuses', async () => void (await feed.append(7))],
    ['read', 'serves', async () => bodiesOf((await feed.read({ limit: 3 })).messages)],
    [
      'read',
      'serves',
      async () => bodiesOf((await feed.read({ includeDelayed: true, echo: false })).messages),
    ],
    ['get', 'serves', async () => bodiesOf((await feed.get(await idsOf([1, 6]))).messages)],
    ['append-alike', 'refuses', hear],
    ['remove', 'serves', async () => feed.remove([...(await idsOf([5])), '1'])],
    ['inspect', 'serves', async () => (await feed.inspect()).total],
    // Whether there was something to delete, a repetition cannot know.
    ['clear', 'serves', async () => void (await feed.clear())],
    ['inspect', 'serves', async () => (await feed.inspect()).exists],
  ]
}

function claimSteps({ redis, name }: Place): readonly Step[] {
  const feed = redis.feed<number>(`${name} worked`, { maxClaims: 1, retention: 20 })
  const written = redis.feed<string>(`${name} worked`, { codec: jsonText, retention: 20 })
  const bodies = [1, 2, 3, 4].map((body) => ({ body, ttl: '1h' }) as const)
  let claim: Claim<number> | null = null
  let other: Claim<number> | null = null
  const idOf = (at: number): string[] => [claim?.messages[at]?.id ?? '']
  return [
    ['append', 'refuses', async () => void (await feed.appendMany(bodies))],
    ['claim', 'refuses', async () => bodiesOf((claim = await feed.claim({ limit: 3 }))?.messages)],
    [
      'claimed',
      'serves',
      async () => bodiesOf((await feed.byToken.get({ token: claim?.token ?? 1 }))?.messages),
    ],
    ['extend', 'serves', async () => claim?.extend('1m', { grace: '4h' })],
    ['ack', 'serves', async () => claim?.ack(idOf(0))],
    ['release', 'serves', async () => claim?.release(idOf(1))],
    ['release', 'serves', async () => claim?.release(['5'])],
    ['remove', 'serves', async () => (await feed.remove(idOf(2))).held.length],
    ['read', 'serves', async () => bodiesOf((await feed.read({ includeClaimed: false })).messages)],
    ['ack', 'serves', async () => claim?.ack()],
    ['ack', 'serves', async () => feed.byToken.ack([{ token: 1 }])],
    ['claim', 'refuses', async () => bodiesOf((other = await feed.claim({ limit: 3 }))?.messages)],
    ['release', 'serves', async () => other?.release()],
    ['claim', 'refuses', async () => bodiesOf((await feed.claim({ limit: 3 }))?.messages)],
    ['read', 'serves', async () => bodiesOf((await feed.deadLetters.read()).messages)],
    ['inspect', 'serves', async () => (await feed.inspect()).deadLetters],
    ['append', 'refuses', async () => void (await written.appendMany([{ body: 'no JSON' }, { body: '5' }]))],
    ['dead-letter', 'unasked', async () => bodiesOf((await feed.claim())?.messages)],
    ['read', 'serves', async () => (await feed.deadLetters.read()).undecodable.length],
    ['clear', 'serves', async () => void (await feed.clear())],
  ]
}

function subscriberSteps({ redis, name }: Place): readonly Step[] {
  const feed = redis.feed<number>(`${name} followed`)
  const ada = feed.subscriber('ada', { protect: true })
  const cursor = async (): Promise<string | null> => (await feed.read({ limit: 1 })).next
  return [
    ['append', 'refuses', async () => void (await feed.appendMany([{ body: 1 }, { body: 2 }]))],
    ['subscribe', 'refuses', async () => void (await ada.cursor())],
    ['commit', 'refuses', async () => void (await ada.commit(await cursor()))],
    // A subscriber is stored again whenever it reads.
    ['subscribe', 'refuses', async () => bodiesOf((await ada.page()).messages)],
    // A repetition cannot know whether there was a subscriber to forget.
    ['forget', 'serves', async () => void (await ada.forget())],
    ['inspect', 'serves', async () => (await feed.inspect()).subscribers],
  ]
}

export const use: Use = { steps, works: feedWorks }
