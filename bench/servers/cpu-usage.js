// Preloaded into every server of the bench (`node --import`): reports the CPU time of the process to the parent on request. Plain
// JavaScript, so that the built service runs without a loader.
process.on('message', () => {
  const { statementsSent: statements } = globalThis;
  process.send({ ...process.cpuUsage(), rss: process.memoryUsage.rss(), statements });
});
process.channel?.unref();
