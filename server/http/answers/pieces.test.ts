import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { AnswerPieces } from './pieces.ts'

const NOTHING = Buffer.alloc(0)
const LARGE = Buffer.from(Array.from({ length: 200_000 }, (_, at) => at % 251))

async function* texts(...all: string[]): AsyncGenerator<string, void, undefined> {
  yield* all
}

async function read(pieces: AnswerPieces): Promise<Buffer> {
  const all: Buffer[] = []
  for await (const piece of pieces) all.push(piece)
  return Buffer.concat(all)
}

test('the output equals the input, whatever the pieces', async () => {
  expect((await read(AnswerPieces.ofBytes(LARGE))).equals(LARGE)).toBe(true)
  expect(await read(AnswerPieces.ofBytes(Buffer.alloc(0)))).toHaveLength(0)
  expect(
    (await read(AnswerPieces.ofBytes(Buffer.from('a'), LARGE, NOTHING, LARGE))).equals(
      Buffer.concat([Buffer.from('a'), LARGE, LARGE]),
    ),
  ).toBe(true)
  const long = 'ä'.repeat(100_000)
  expect((await read(AnswerPieces.ofTexts(texts('a', '', long, 'z')))).toString()).toBe(`a${long}z`)
})

test('bytes that have not been passed on are reported', async () => {
  const pieces = AnswerPieces.ofBytes(LARGE)
  expect(pieces.left).toBe(LARGE.length)
  const lefts: number[] = []
  for await (const piece of pieces) lefts.push(piece.length + pieces.left)
  expect(lefts.length).toBeGreaterThan(2)
  expect(lefts[0]).toBe(LARGE.length)
  expect(pieces.left).toBe(0)
})

test('the end is signalled when everything before it has left', async () => {
  let [notGone, ended] = [1, false]
  const pieces = AnswerPieces.ofBytes(LARGE)
  pieces.notGone = () => notGone
  pieces.once('end', () => (ended = true)).resume()

  await sleep(50)
  expect([pieces.left, ended]).toEqual([0, false])
  notGone = 0
  await once(pieces, 'end')
})

test('texts are requested as they are taken, and no more once the reader has left', async () => {
  let [asked, ended] = [0, false]
  async function* endless(): AsyncGenerator<string, void, undefined> {
    try {
      for (;;) yield 'x'.repeat((asked += 1) && 100_000)
    } finally {
      ended = true
    }
  }
  const pieces = AnswerPieces.ofTexts(endless())
  pieces.once('readable', () => undefined)
  await sleep(20)
  expect(asked).toBeLessThan(4)
  pieces.destroy()
  await sleep(20)
  expect([asked < 4, ended]).toEqual([true, true])
})

test('a text that fails ends the stream with its error', async () => {
  async function* broken(): AsyncGenerator<string, void, undefined> {
    yield 'a'
    throw new Error('gone')
  }
  await expect(read(AnswerPieces.ofTexts(broken()))).rejects.toThrow('gone')
})
