import type { Driver } from 'perilune'

/** The driver, which notes the names of the scripts and of the writing commands that go through it. */
export function counting(driver: Driver, calls: string[]): Driver {
  const run: Driver['run'] = (call) => {
    // The source is sent to a server that has lost the script: the same call once more.
    if (call.send === 'hash') calls.push(call.script.name)
    return driver.run(call)
  }
  return Object.assign(Object.create(driver) as Driver, {
    run,
    read: (reads: Parameters<Driver['read']>[0]) => driver.read(reads),
    write: (call: Parameters<Driver['write']>[0]) => {
      calls.push(call.command)
      return driver.write(call)
    },
    info: () => driver.info(),
    close: () => driver.close(),
    healthy: () => driver.healthy(),
    load: (script: Parameters<Driver['load']>[0]) => driver.load(script),
    subscribe: (...args: Parameters<Driver['subscribe']>) => driver.subscribe(...args),
  })
}
