console.log("thinking");
setInterval(() => {}, 1000);
