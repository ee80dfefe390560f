// Pipelined requests of one client on one connection: Node reports the end of the first response only.

import { once as event } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { isClosed, whenClosed } from './when-closed.ts'

/** Requests of one client, sent at once; resolves to their responses. */
async function asked(count: number) {
  const responses: ServerResponse[] = []
  const server = createServer((_, response) => void responses.push(response)).listen(0, '127.0.0.1')
  await event(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1').resume()
  client.write('GET / HTTP/1.1\r\nHost: shop.example\r\n\r\n'.repeat(count))
  await expect.poll(() => responses.length).toBe(count)
  return { client, responses }
}

test('a response that waits for an earlier one is closed when its client disconnects', async () => {
  const { client, responses } = await asked(20)
  const closed: number[] = []
  for (const [at, response] of responses.entries()) whenClosed(response, () => void closed.push(at))

  client.destroy()

  await expect.poll(() => closed.toSorted((one, other) => one - other)).toEqual([...responses.keys()])
  expect(responses.every(isClosed)).toBe(true)
  let isTold = false
  whenClosed(responses.at(-1) as ServerResponse, () => (isTold = true))
  expect(isTold).toBe(true)
})

test('a response that waits for an earlier one is closed once, after it was sent', async () => {
  const { client, responses } = await asked(2)
  const [first, second] = responses as [ServerResponse, ServerResponse]
  const connection = first.req.socket
  let times = 0
  whenClosed(second, () => (times += 1))

  second.end('two')
  expect(times).toBe(0)
  first.end('one')
  await expect.poll(() => times).toBe(1)

  client.destroy()
  await event(connection, 'close')
  expect(times).toBe(1)
})
