// Addresses in front of a server over which something takes longer than a silence may last.

import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import { HOST } from './client.ts'

/** Longer than any client needs to find out that a connection is silent. */
export const LONG_MS = 8000

/** A value with many `x` comes back over it in small pieces. */
export function startTrickle(target: number): Promise<number> {
  return startBetween(target, (client, server) => {
    const trickle = inPieces((chunk) => (chunk.includes('xxxx') ? 100 : chunk.length), LONG_MS / 30)
    client.on('data', (chunk) => server.write(chunk))
    server.on('data', (chunk: Buffer) => trickle(chunk, client))
  })
}

/** So many bytes a second go out over it. */
export function startNarrow(target: number, bytesASecond: number): Promise<number> {
  return startBetween(target, (client, server) => {
    const trickle = inPieces(() => bytesASecond / 20, 50)
    client.on('data', (chunk: Buffer) => trickle(chunk, server))
    server.on('data', (chunk) => client.write(chunk))
  })
}

/** A connection over which this word is sent is dead from then on, and never closed. */
export function startDeafTo(target: number, word: string): Promise<number> {
  return startBetween(target, (client, server) => {
    let isDead = false
    client.on('data', (chunk: Buffer) => {
      isDead ||= chunk.includes(word)
      if (!isDead) server.write(chunk)
    })
    server.on('data', (chunk) => {
      if (!isDead) client.write(chunk)
    })
  })
}

/** One after the other; those after the first one of a chunk come so much later each. */
function inPieces(sizeOf: (chunk: Buffer) => number, pauseMs: number): (chunk: Buffer, to: Socket) => void {
  let last = Promise.resolve()
  const send = async (chunk: Buffer, to: Socket): Promise<void> => {
    const size = sizeOf(chunk)
    for (let at = 0; at < chunk.length; at += size) {
      to.write(chunk.subarray(at, at + size))
      if (size < chunk.length) await sleep(pauseMs)
    }
  }
  return (chunk, to) => {
    last = last.then(() => send(chunk, to))
  }
}

async function startBetween(target: number, join: (client: Socket, server: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>()
  const listener = createServer((client) => {
    const server = connect(target, HOST)
    for (const socket of [client, server]) sockets.add(socket.on('error', () => undefined))
    client.on('close', () => server.destroy())
    join(client, server)
  })
  listener.listen(0, HOST)
  await once(listener, 'listening')
  onTestFinished(() => {
    listener.close()
    for (const socket of sockets) socket.destroy()
  })
  return Number(Reflect.get(Object(listener.address()), 'port'))
}
