// Friend lists that a bus delivers twice at the same instant:
//   npx tsx examples/collection/friends.ts 1000
// Each list is written by two of eight connections at once, in the two ways below; then it is counted whose lists
// are wrong.

import { Redis } from 'ioredis'
import { type CollectionList, type Perilune, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'

const CONNECTIONS = 8
const FRIENDS = Array.from({ length: 2000 }, (_, n) => `friend-${n}`)

/** One process of eight: it takes what the bus delivers. */
interface Consumer {
  client: Redis
  redis: Perilune
}

function connect(): Consumer {
  const client = new Redis(process.env['REDIS_URL'] ?? 'redis://127.0.0.1:6379')
  return { client, redis: perilune(ioredis(client), { namespace: 'example' }) }
}

const nameOf = (user: number): string => `friends-${process.pid}-${user}`
const listOf = ({ redis }: Consumer, user: number): CollectionList<string> =>
  redis.collection<string>(nameOf(user), { kind: 'list', ttl: '1m' })

interface Way {
  name: string
  deliver(consumer: Consumer, user: number): Promise<unknown>
  count(consumer: Consumer, user: number): Promise<number>
}

const pipeline: Way = {
  name: 'DEL, RPUSH and EXPIRE in a pipeline',
  deliver: ({ client }, user) =>
    client
      .pipeline()
      .del(nameOf(user))
      .rpush(nameOf(user), ...FRIENDS)
      .expire(nameOf(user), 60)
      .exec(),
  count: ({ client }, user) => client.llen(nameOf(user)),
}

const collection: Way = {
  name: 'replace of a collection',
  deliver: (consumer, user) => listOf(consumer, user).replace(FRIENDS, { version: 1 }),
  async count(consumer, user) {
    const list = await listOf(consumer, user).inspect()
    return list.exists ? list.size : 0
  },
}

/** How many lists are not what was delivered. Each pair of consumers serves its share of the users. */
async function play(way: Way, consumers: readonly Consumer[], users: number): Promise<number> {
  const pairs = consumers.length / 2
  let wrong = 0
  const serve = async (first: Consumer, second: Consumer, from: number): Promise<void> => {
    for (let user = from; user < users; user += pairs) {
      await Promise.all([way.deliver(first, user), way.deliver(second, user)])
      if ((await way.count(first, user)) !== FRIENDS.length) wrong += 1
    }
  }
  const serving: Promise<void>[] = []
  for (let at = 0; at < pairs; at++) {
    const [first, second] = consumers.slice(2 * at, 2 * at + 2)
    if (first && second) serving.push(serve(first, second, at))
  }
  await Promise.all(serving)
  return wrong
}

const users = Number(process.argv[2] ?? 1000)
const consumers = Array.from({ length: CONNECTIONS }, connect)
for (const way of [pipeline, collection]) {
  const wrong = await play(way, consumers, users)
  console.log(`${way.name}: ${wrong} of ${users} lists are wrong`)
}
for (const { client, redis } of consumers) {
  await redis.close()
  client.disconnect()
}
