import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { record } from './record-node-response.ts'

/** Serves one recorded response of this handler; resolves to what nobody handled, and how the request ended. */
async function serve(
  handle: (response: ServerResponse) => void,
): Promise<{ unhandled: unknown[]; end: string }> {
  const unhandled: unknown[] = []
  const note = (reason: unknown): void => void unhandled.push(reason)
  process.on('unhandledRejection', note)
  const server = createServer((_, response) => {
    record(response, { keep: async () => undefined }, 1000)
    handle(response)
  }).listen(0, '127.0.0.1')
  onTestFinished(() => {
    process.off('unhandledRejection', note)
    server.close()
    server.closeAllConnections()
  })
  await once(server, 'listening')
  const answering = fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const end = await answering.then(
    (answer) => answer.text(),
    () => 'broken off',
  )
  return { unhandled, end }
}

test('a response is sent once it is kept', async () => {
  expect(await serve((response) => void response.end('done'))).toEqual({ unhandled: [], end: 'done' })
})

test('a response that cannot be sent is broken off, and is no unhandled rejection', async () => {
  const what = await serve((response) => void response.end({ no: 'bytes' } as never))

  expect(what).toEqual({ unhandled: [], end: 'broken off' })
})
