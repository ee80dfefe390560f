import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { mayReach, readRanges } from '../addresses/guard.ts'
import { checkSubscriber } from './subscriber.ts'
import { postLetter } from './webhook.ts'

const rangesOf = (text: string) => readRanges(text) ?? []
const LETTER = { headers: {}, body: '{}' }

describe('a subscriber', () => {
  test.each(['http://93.184.216.34/', 'https://[2606:4700::1111]:8443/x', 'HTTPS://93.184.216.34/?a=b#c'])(
    '%s is accepted: its address is public',
    async (subscriber) => {
      await expect(checkSubscriber(subscriber, [])).resolves.toBeUndefined()
    },
  )

  test('with a name that leads to this machine is rejected, unless its address is allowed', async () => {
    await expect(checkSubscriber('http://localhost:8080/', [])).rejects.toThrow('public address')
    await expect(
      checkSubscriber('http://localhost:8080/', rangesOf('127.0.0.0/8,::1')),
    ).resolves.toBeUndefined()
  })
})

/** A server that sends this text after any input, and its port. Ends with the test. */
async function saying(words: string): Promise<number> {
  const server: Server = createTcpServer((socket) => {
    socket.on('error', () => undefined).once('data', () => socket.write(words))
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

const FAILING = [
  // Node then emits neither a response nor an error.
  [
    'that is answered with another protocol',
    'HTTP/1.1 101 Other\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n',
  ],
  ['that is answered with another protocol at once', 'HTTP/1.1 101 Other\r\n\r\nHTTP/1.1 500 No\r\n\r\n'],
  ['that is answered with something other than HTTP', 'SSH-2.0-x\r\n'],
  ['that is answered twice', 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 404 None\r\n\r\nHTTP/1.1 200 OK\r\n\r\n'],
] as const

describe('a push', () => {
  test.each(FAILING)('%s has failed', async (_, words) => {
    const url = new URL(`http://127.0.0.1:${await saying(words)}/`)
    expect(await postLetter(url, LETTER, { timeoutMs: 2000, allowed: rangesOf('127.0.0.1') })).toBe('failed')
  })

  test.each(['100 Continue', '102 Processing', '103 Early Hints'])(
    'that is answered with %s without an end has failed, and reads only a few of them',
    async (interim) => {
      let closed = false
      let written = 0
      const server = createTcpServer((socket) => {
        const send = (): void => {
          while (!closed && socket.write(`HTTP/1.1 ${interim}\r\n\r\n`.repeat(1000))) written += 1000
        }
        socket.on('error', () => undefined).on('close', () => (closed = true))
        socket.on('drain', send).once('data', send)
      }).listen(0, '127.0.0.1')
      onTestFinished(() => void server.close())
      await once(server, 'listening')
      const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
      const failures: string[] = []
      const onFailure = (words: string): void => void failures.push(words)

      const terms = { timeoutMs: 60_000, allowed: rangesOf('127.0.0.1'), onFailure }
      expect(await postLetter(url, LETTER, terms)).toBe('failed')
      expect(failures).toEqual(['it sends interim answers without an end'])
      expect(written).toBeLessThan(1_000_000)
    },
  )

  test('with only the beginning of an answer is late', async () => {
    const url = new URL(`http://127.0.0.1:${await saying('HTTP/1.1 102 Wait\r\n\r\nHTTP/1.1 20')}/`)
    expect(await postLetter(url, LETTER, { timeoutMs: 100, allowed: rangesOf('127.0.0.1') })).toBe('late')
  })

  test('to a name that now leads to this machine is not sent, even if it was accepted when it led elsewhere', async () => {
    let requests = 0
    const server = createServer((_, response) => response.end(String((requests += 1)))).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const send = (host: string, allowed: string) =>
      postLetter(new URL(`http://${host}:${port}/`), LETTER, { timeoutMs: 2000, allowed: rangesOf(allowed) })

    expect(await send('localhost', '')).toBe('forbidden')
    expect(await send('127.0.0.1', '')).toBe('forbidden')
    expect(await send('[::ffff:127.0.0.1]', '')).toBe('forbidden')
    expect(requests).toBe(0)
    expect(await send('localhost', '127.0.0.1, ::1')).toBe('delivered')
    expect(await send('127.0.0.1', '127.0.0.0/8')).toBe('delivered')
    server.close()
  })

  test('that nothing listens for has failed', async () => {
    const terms = { timeoutMs: 1000, allowed: rangesOf('127.0.0.1') }
    expect(await postLetter(new URL('http://127.0.0.1:1/'), LETTER, terms)).toBe('failed')
  })
})

describe('why a push was not delivered', () => {
  const refusing = 'HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n'
  test.each([
    ['a status', async () => saying(refusing), '127.0.0.1', 'it answered with 503'],
    ['no answer in time', async () => saying('HTTP/1.1 20'), '127.0.0.1', 'no answer in time'],
    [
      'no connection',
      async () => 1,
      '127.0.0.1',
      'it cannot be reached, or does not answer in HTTP (ECONNREFUSED)',
    ],
    [
      'no HTTP',
      async () => saying('SSH-2.0-x\r\n'),
      '127.0.0.1',
      'it cannot be reached, or does not answer in HTTP (HPE_INVALID_CONSTANT)',
    ],
    ['a private address', async () => 1, '', 'its address is not one that a webhook may reach'],
  ])('is reported for %s', async (_, portOf, allowed, why) => {
    let reported = ''
    const onFailure = (reason: string): void => void (reported = reason)
    const terms = { timeoutMs: 500, allowed: rangesOf(allowed), onFailure }
    await postLetter(new URL(`http://127.0.0.1:${await portOf()}/`), LETTER, terms)

    expect(reported).toBe(why)
  })
})

describe('ranges of addresses', () => {
  test('are read with or without a size, and anything else is rejected', () => {
    expect(readRanges('')).toEqual([])
    expect(readRanges(' 10.0.0.1 , fd00::/8,')).toHaveLength(2)
    for (const bad of ['10.0.0.0/33', 'x', '10.0.0.0/8/8', '10.0.0.0/', '::/129', 'fe80::1%eth0', '10.0.0']) {
      expect(readRanges(bad), bad).toBeNull()
    }
  })

  test('contain the addresses with the same prefix, and an IPv4 address in an IPv6 one is treated as itself', () => {
    const allowed = rangesOf('10.1.0.0/16, fd00:1::/32, 192.168.1.1')
    const good = [
      '10.1.255.255',
      'fd00:1:ffff::',
      '192.168.1.1',
      '::ffff:10.1.0.1',
      '8.8.8.8',
      '2606:4700::1',
      '2001:4860:4860::8888',
      '2a00:1450::1',
    ]
    const bad = [
      '10.2.0.0',
      'fd00:2::',
      '192.168.1.2',
      '::ffff:10.2.0.1',
      '::10.1.0.1',
      '255.255.255.255',
      '192.0.2.1',
      '198.51.100.1',
      '203.0.113.1',
      '192.88.99.1',
      '::ffff:0:10.1.0.1',
      '::ffff:0:8.8.8.8',
      '64:ff9b::8.8.8.8',
      '2001:db8::1',
      '2001:2::1',
      '2002:a01:1::1',
      '3fff::1',
      '5f00::1',
      '4000::1',
      'fe80::1',
      'fd00:2::1',
      'x',
    ]
    expect(good.filter((address) => !mayReach(address, allowed))).toEqual([])
    expect(bad.filter((address) => mayReach(address, allowed))).toEqual([])
  })
})
