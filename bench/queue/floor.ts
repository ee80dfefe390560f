// The least that keeps the promises: jobs in order, each claimed with a lease and a token of its own, acked by that
// token, in scripts that do nothing twice when a call is repeated. It has no options, wakes no one, counts nothing,
// never takes back lost jobs, and is called by hand, without a library.

import { randomBytes } from 'node:crypto'
import { Redis } from 'ioredis'
import type { Contender, Source, Worker, WorkTerms } from './contender.ts'

const ENQUEUE = `
local known = redis.call('HMGET', KEYS[1], 'last', ARGV[1])
if known[2] and string.match(known[2], '^%d+') == ARGV[2] then return known[2] end
local time = redis.call('TIME')
local first = math.max((known[1] or 0) + 1, time[1] * 1000000 + time[2])
local fields, numbers = {}, {}
for at = 3, #ARGV do
  local number = string.format('%.0f', first + at - 3)
  numbers[#numbers + 1] = number
  fields[#fields + 1], fields[#fields + 2] = number, ARGV[at]
end
redis.call('HSET', KEYS[2], unpack(fields))
redis.call('RPUSH', KEYS[3], unpack(numbers))
redis.call('HSET', KEYS[1], 'last', numbers[#numbers], ARGV[1], ARGV[2] .. ' ' .. numbers[1])
return numbers[1]
`
const WORK = `
local known = redis.call('HMGET', KEYS[1], 'token', ARGV[1])
if known[2] and string.match(known[2], '^%d+') == ARGV[2] then return known[2] end
local runs, numbers, ended = {}, {}, {}
for at = 5, #ARGV, 2 do
  runs[#runs + 1] = 'r' .. ARGV[at]
end
for at, token in ipairs(#runs > 0 and redis.call('HMGET', KEYS[2], unpack(runs)) or {}) do
  if token == ARGV[at * 2 + 4] then
    local number = ARGV[at * 2 + 3]
    numbers[#numbers + 1], ended[#ended + 1], ended[#ended + 2] = number, number, runs[at]
  end
end
if #numbers > 0 then
  redis.call('ZREM', KEYS[4], unpack(numbers))
  redis.call('HDEL', KEYS[2], unpack(ended))
end
local time = redis.call('TIME')
local token = math.max((known[1] or 0) + 1, time[1] * 1000000 + time[2])
local ends = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000) + ARGV[4])
local taken, claimed = ARGV[3] ~= '0' and redis.call('LRANGE', KEYS[3], 0, ARGV[3] - 1) or {}, {}
if #taken > 0 then
  local runs, leases = {}, {}
  for at, payload in ipairs(redis.call('HMGET', KEYS[2], unpack(taken))) do
    local number, its = taken[at], string.format('%.0f', token + at - 1)
    claimed[#claimed + 1], claimed[#claimed + 2], claimed[#claimed + 3] = number, its, payload
    runs[#runs + 1], runs[#runs + 2] = 'r' .. number, its
    leases[#leases + 1], leases[#leases + 2] = ends, number
  end
  redis.call('LTRIM', KEYS[3], #taken, -1)
  redis.call('HSET', KEYS[2], unpack(runs))
  redis.call('ZADD', KEYS[4], unpack(leases))
end
redis.call('HSET', KEYS[1], 'token', string.format('%.0f', token + #taken), ARGV[1], ARGV[2] .. ' ' .. #taken)
return claimed
`

type Claimed = readonly string[]

export const floor: Contender = {
  name: 'the least that keeps the promises',
  settings: 'the floor of ours: two scripts, called by hand',
  heeds: [],
  async connect(port: number, name: string): Promise<Source> {
    const client = new Redis({ port })
    const keys = ['meta', 'jobs', 'ready', 'leases'].map((part) => `floor:{${name}}:${part}`)
    const caller = randomBytes(9).toString('base64url')
    const enqueue = String(await client.script('LOAD', ENQUEUE))
    const work = String(await client.script('LOAD', WORK))
    let call = 0
    const put = (payloads: readonly string[]): Promise<unknown> =>
      client.evalsha(enqueue, 4, ...keys, caller, ++call, ...payloads)
    const trade = async (acks: Claimed, limit: number): Promise<Claimed> =>
      (await client.evalsha(work, 4, ...keys, caller, ++call, limit, 30_000, ...acks)) as string[]
    let held: Claimed = []
    return {
      sends: [],
      add: ({ payload }) => put([JSON.stringify(payload)]),
      addBulk: (jobs) => put(jobs.map(({ payload }) => JSON.stringify(payload))),
      work: async (terms) => workOn(trade, terms),
      popNext: async () => {
        const claimed = await trade(held, 1)
        if (claimed.length === 0) throw new Error('no job waits')
        held = claimed.slice(0, 2)
      },
      pop: async () => {
        const claimed = await trade([], 1)
        return () => trade(claimed.slice(0, 2), 0)
      },
      close: async () => client.disconnect(),
    }
  },
}

/** All that is done goes back in one call, and as much comes with its answer, until nothing waits or it is closed. */
function workOn(trade: (acks: Claimed, limit: number) => Promise<Claimed>, terms: WorkTerms): Worker {
  let [running, closed] = [Promise.resolve(), false]
  const run = async (): Promise<void> => {
    let acks: string[] = []
    for (;;) {
      const claimed = await trade(acks, closed ? 0 : terms.concurrency)
      for (let at = 0; at < acks.length; at += 2) terms.done()
      if (claimed.length === 0) return
      acks = []
      const handled: Promise<unknown>[] = []
      for (let at = 0; at < claimed.length; at += 3) {
        acks.push(String(claimed[at]), String(claimed[at + 1]))
        handled.push(terms.handle(JSON.parse(String(claimed[at + 2])) as string))
      }
      await Promise.all(handled)
    }
  }
  const close = (): Promise<void> => {
    closed = true
    return running
  }
  return { start: () => void (running = run()), close }
}
