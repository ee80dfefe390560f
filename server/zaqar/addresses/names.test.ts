import { createSocket, type Socket } from 'node:dgram'
import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { readRanges } from './guard.ts'
import { inHostsFile } from './hosts-file.ts'
import { Names } from './names.ts'
import { namesToAsk } from './search-domains.ts'
import { checkSubscriber } from '../webhooks/subscriber.ts'
import { postLetter } from '../webhooks/webhook.ts'

const [NO_ERROR, SERVER_FAILED, NO_SUCH_NAME] = [0, 2, 3]
const [A, AAAA] = [1, 28]
const ALLOWED = readRanges('127.0.0.0/8,::1') ?? []
const LETTER = { headers: {}, body: '{}' }

interface Answer {
  readonly code?: number
  /** The bytes of an address; none: the name has no address of this family. */
  readonly address?: readonly number[]
}

/** A name server, and the names that it was asked for; null is silence. Ends with the test. */
async function nameServer(
  tell: (name: string, type: number) => Answer | null,
): Promise<{ servers: string[]; asked: string[] }> {
  const asked: string[] = []
  const server: Socket = createSocket('udp4', (question, { port, address }) => {
    const [name, end] = nameIn(question)
    asked.push(name)
    const answer = tell(name, question.readUInt16BE(end))
    if (answer !== null) server.send(answerTo(question.subarray(0, end + 4), answer), port, address)
  })
  server.bind(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return { servers: [`127.0.0.1:${server.address().port}`], asked }
}

/** The name, and the position of its end. */
function nameIn(question: Buffer): [name: string, end: number] {
  const parts: string[] = []
  let at = 12
  for (let size = question[at] ?? 0; size > 0; size = question[at] ?? 0) {
    parts.push(question.toString('latin1', at + 1, at + 1 + size))
    at += size + 1
  }
  return [parts.join('.'), at + 1]
}

function answerTo(question: Buffer, { code = NO_ERROR, address }: Answer): Buffer {
  const head = Buffer.from(question)
  head.writeUInt16BE(0x81_80 | code, 2)
  head.fill(0, 6, 12)
  if (address === undefined) return head
  head.writeUInt16BE(1, 6)
  const record = [0xc0, 12, 0, address.length === 4 ? A : AAAA, 0, 1, 0, 0, 0, 0, 0, address.length]
  return Buffer.concat([head, Buffer.from([...record, ...address])])
}

const HOME = [127, 0, 0, 1]
const HOME_V6 = [...Array.from({ length: 15 }, () => 0), 1]

/** `silent…` gets no answer, `quick…` leads to this machine. */
const someAreSilent = (name: string, type: number): Answer | null => {
  if (name.startsWith('silent')) return null
  return name.startsWith('quick') && type === A ? { address: HOME } : {}
}

async function receiver(): Promise<number> {
  const server = createServer((_, response) => response.end()).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

test('names without an answer from any name server keep no other push waiting', async () => {
  const names = new Names(await nameServer(someAreSilent))
  const port = await receiver()
  const send = (host: string) =>
    postLetter(new URL(`http://${host}:${port}/`), LETTER, { timeoutMs: 3000, allowed: ALLOWED, names })

  const silent = Array.from({ length: 50 }, (_, at) => send(`silent${at}.test`))
  const began = performance.now()
  expect(await send('quick.test')).toBe('delivered')
  // Other lookups of the process.
  await lookup('localhost')
  expect(performance.now() - began).toBeLessThan(2000)
  expect(new Set(await Promise.all(silent))).toEqual(new Set(['late']))
})

test('a subscription with a name without an answer is accepted after a second, and leaves nothing behind', async () => {
  const { servers, asked } = await nameServer(someAreSilent)
  const names = new Names({ servers })

  await checkSubscriber('http://silent.test/', [], names)
  await expect(checkSubscriber('http://quick.test/', [], names)).rejects.toThrow('public address')
  const count = asked.length
  await sleep(1000)
  expect(asked).toHaveLength(count)
})

test('names unknown to the name servers are left to the system, one at a time', async () => {
  const { servers } = await nameServer((name, type) => {
    if (name === 'none.test') return {}
    return name === 'failed.test'
      ? { code: SERVER_FAILED }
      : { code: NO_SUCH_NAME, ...(type === A ? {} : {}) }
  })
  let [atOnce, most] = [0, 0]
  const ofSystem = async (host: string) => {
    most = Math.max(most, (atOnce += 1))
    await (host === 'stuck' ? new Promise(() => undefined) : sleep(20))
    atOnce -= 1
    return [{ address: '10.0.0.1', family: 4 }]
  }
  const names = new Names({ servers, ofSystem })

  const found = await Promise.all(
    ['short', 'none.test', 'other'].map((host) => names.addressesOf(host, 2000)),
  )
  expect(found.flat().map(({ address }) => address)).toEqual(['10.0.0.1', '10.0.0.1', '10.0.0.1'])
  expect(most).toBe(1)
  await expect(names.addressesOf('failed.test', 2000)).rejects.toThrow('SERVFAIL')
  await expect(names.addressesOf('stuck', 100)).rejects.toThrow('no name server answered in time for stuck')
  await expect(names.addressesOf('behind', 100)).rejects.toThrow('no name server answered in time for behind')
})

test('a short name is looked up in the domains of the system first, whatever name servers answer for it alone', async () => {
  const { servers, asked } = await nameServer((name, type) => {
    if (name === 'worker.lan' && type === A) return { address: HOME }
    return { code: name.endsWith('.lan') ? NO_SUCH_NAME : SERVER_FAILED }
  })
  const folder = mkdtempSync(join(tmpdir(), 'search-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'resolv.conf')
  const toAsk = (host: string) => namesToAsk(host, file)
  const ofSystem = async () => [{ address: '10.0.0.1', family: 4 }]
  const names = new Names({ servers, toAsk, ofSystem })

  writeFileSync(
    file,
    'nameserver 127.0.0.1\ndomain old\nsearch corp.lan lan. # here\noptions ndots:2 edns0\n',
  )
  expect(await names.addressesOf('worker', 2000)).toEqual([{ address: '127.0.0.1', family: 4 }])
  expect(new Set(asked)).toEqual(new Set(['worker.corp.lan', 'worker.lan']))
  expect(toAsk('a.b')).toEqual(['a.b.corp.lan', 'a.b.lan', 'a.b'])
  expect([toAsk('a.b.c'), toAsk('a.'), namesToAsk('a', join(folder, 'none'))]).toEqual([
    ['a.b.c'],
    ['a.'],
    ['a'],
  ])
  // The system may know a name for which the name server fails: a name without a dot is not public.
  expect(await names.addressesOf('other', 2000)).toEqual([{ address: '10.0.0.1', family: 4 }])
  await expect(names.addressesOf('failed.test', 2000)).rejects.toThrow('SERVFAIL')
})

test('without a name server, the system is asked', async () => {
  const ofSystem = async () => [{ address: '10.0.0.1', family: 4 }]
  // Nothing listens there.
  const names = new Names({ servers: ['127.0.0.1:1'], ofSystem })
  expect(await names.addressesOf('some.test', 2000)).toEqual([{ address: '10.0.0.1', family: 4 }])
})

test('a name has the addresses of both families, and one family waits only a moment for the other', async () => {
  const { servers } = await nameServer((name, type) => {
    if (type === A) return { address: HOME }
    return name === 'half.test' ? null : { address: HOME_V6 }
  })
  const names = new Names({ servers })

  expect(await names.addressesOf('both.test', 2000)).toEqual([
    { address: '127.0.0.1', family: 4 },
    { address: '::1', family: 6 },
  ])
  const began = performance.now()
  expect(await names.addressesOf('half.test', 2000)).toEqual([{ address: '127.0.0.1', family: 4 }])
  expect(performance.now() - began).toBeLessThan(1000)
})

test('a lost query is repeated', async () => {
  let lost = 0
  const { servers } = await nameServer((_, type) =>
    (lost += 1) <= 2 || type !== A ? null : { address: HOME },
  )
  expect(await new Names({ servers }).addressesOf('lost.test', 5000)).toHaveLength(1)
})

test('letters of one batch share one lookup of a name, and each waits for its own time', async () => {
  const { servers, asked } = await nameServer(someAreSilent)
  const names = new Names({ servers })

  const found = await Promise.all(Array.from({ length: 8 }, () => names.addressesOf('quick.test', 2000)))
  expect(found.map((all) => all.length)).toEqual(Array.from({ length: 8 }, () => 1))
  expect(asked).toHaveLength(2)

  const longer = names.addressesOf('silent.test', 1000).catch((error: Error) => error.name)
  await expect(names.addressesOf('silent.test', 50)).rejects.toThrow('in time')
  expect(await Promise.race([longer, sleep(200, 'waits')])).toBe('waits')
  expect(await longer).toBe('SilentNameError')
})

test('the hosts file takes precedence over name servers, and is read again when it has changed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'hosts-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'hosts')
  writeFileSync(
    file,
    '# none\n10.1.2.3\tWorker worker.internal # here\nfd00::1 worker\nfe80::1%lo0 zoned\nx y\n',
  )

  expect(inHostsFile('worker', file)).toEqual([
    { address: '10.1.2.3', family: 4 },
    { address: 'fd00::1', family: 6 },
  ])
  expect(inHostsFile('WORKER.internal.', file)).toHaveLength(1)
  expect([inHostsFile('zoned', file), inHostsFile('y', file)]).toEqual([[], []])
  writeFileSync(file, '10.9.9.9 worker another\n')
  expect(inHostsFile('worker', file)).toEqual([{ address: '10.9.9.9', family: 4 }])
  expect(inHostsFile('worker', join(folder, 'none'))).toEqual([])

  const { servers, asked } = await nameServer(() => null)
  expect((await new Names({ servers }).addressesOf('localhost', 2000)).length).toBeGreaterThan(0)
  expect(asked).toEqual([])
})
