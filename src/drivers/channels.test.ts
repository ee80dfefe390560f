import { expect, test } from 'vitest'
import { ConnectionLostError, ServerReplyError } from '../driver.ts'
import { Channels, type Line } from './channels.ts'

const deaf = { onMessage: () => undefined, onGap: () => undefined }

/** Channels over two nodes, of which each does what the test wants; `asked`: who was, in order. */
function setup(open: (address: string) => Promise<Line>): { channels: Channels; asked: string[] } {
  const asked: string[] = []
  const channels = new Channels({
    addressesFor: async () => ['one', 'other'],
    open: (address) => {
      asked.push(address)
      return open(address)
    },
  })
  return { channels, asked }
}

test('every node is asked once for a channel, and the last one says why it cannot be had', async () => {
  const { channels, asked } = setup(async (address) => {
    throw new ConnectionLostError(`${address} is gone`, false)
  })

  await expect(channels.subscribe('a', deaf)).rejects.toThrow('other is gone')

  expect(asked).toEqual(['one', 'other'])
})

test('a node that refuses a channel is believed', async () => {
  const { channels, asked } = setup(async () => {
    throw new ServerReplyError('NOPERM not this channel')
  })

  await expect(channels.subscribe('a', deaf)).rejects.toThrow('NOPERM')

  expect(asked).toEqual(['one'])
})

test('no node is asked any more once the driver is closed', async () => {
  const { channels, asked } = setup(async () => {
    channels.close()
    throw new ConnectionLostError('gone', false)
  })

  await expect(channels.subscribe('a', deaf)).rejects.toThrow('gone')

  expect(asked).toEqual(['one'])
})
