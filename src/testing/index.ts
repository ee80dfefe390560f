// For tests of time-dependent behavior (`testClock`), and for authors of a driver or a binding.

export type { DriverCase, DriverContext, Need, OpenedDriver } from './driver-suite.ts'
export { casesFor, driverSuite } from './driver-suite.ts'
export { type TestClock, type TestClockOptions, testClock } from './instance-clock.ts'
export { runOperation } from './run-operation.ts'
export { onTestClock, START_US, setTestClock, TEST_CLOCK, withTestClock } from './test-clock.ts'
export type { Contract, ContractOperation } from './vector-contract.ts'
export type { Step, Vector, VectorFile } from './vector-file.ts'
export { playVector, type VectorPlace } from './vector-player.ts'
