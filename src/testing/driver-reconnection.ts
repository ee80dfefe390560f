import assert from 'node:assert/strict'
import { ConnectionLostError } from '../driver.ts'
import { callOf, ECHO, failureOf, until, untilAnswered } from './driver-calls.ts'
import { type DriverCase, type DriverContext, withDriver } from './driver-context.ts'

/** The connections, on all primaries, whose last command was a script. */
async function connectionsOf(context: DriverContext): Promise<string[]> {
  const lists = await context.command('CLIENT', 'LIST', 'TYPE', 'normal')
  return lists.flatMap((list, primary) =>
    String(list)
      .split('\n')
      .filter((line) => line.includes(' cmd=eval'))
      .map((line) => `${primary} ${/id=\d+/.exec(line)?.[0]}`),
  )
}

export const reconnectingCases: DriverCase[] = [
  {
    title: 'reconnect fails outstanding calls as possibly done, and the client reconnects',
    run: (context) =>
      withDriver(context, async ({ driver }) => {
        if (driver.reconnect === undefined) return
        const key = context.uniqueTag()
        await driver.run(callOf(ECHO, [key], ['x']))
        const [before = 'none'] = await connectionsOf(context)

        const due = failureOf(driver.run(callOf(ECHO, [key], ['x'])))
        driver.reconnect(key)

        const failure = await due
        assert.ok(failure instanceof ConnectionLostError && failure.sent, String(failure))
        await until(
          async () => !(await connectionsOf(context)).includes(before),
          'the connection was dropped',
        )
        assert.equal(await untilAnswered(driver, callOf(ECHO, [key], ['back'])), 'back')
      }),
  },
]
