// Preloaded into every server of the bench (`node --import`): tells the parent, when asked, what the process has used.
// Plain JavaScript, so that the built service runs without a loader.
process.on('message', () => process.send({ ...process.cpuUsage(), rss: process.memoryUsage.rss() }));
process.channel?.unref();
